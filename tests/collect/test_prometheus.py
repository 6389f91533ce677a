"""Parsing and naming of Prometheus' text form."""

from collections import Counter
from math import isnan

import pytest
from prometheus_client.parser import text_string_to_metric_families

from pipelines.collect.prometheus import BadLine, Labelled, TextParser, parse_key
from pipelines.collect.scrape_text import ScrapeText
from pipelines.errors import DecodeError
from tests.paths import data_root

SAMPLES = data_root() / "samples"
DUMPS = sorted(SAMPLES.rglob("*.prom"))
NOW_NS = 1_700_000_000_000_000_000


def parse(text):
    return list(TextParser(lambda series: series).parse(text))


def read(text, kind="dcgm", owner="host/h1"):
    scraped = ScrapeText(kind, owner).read(text, NOW_NS)
    readings = {tuple(key): value for key, value in scraped.readings.get(NOW_NS, [])}
    return readings, scraped


@pytest.mark.parametrize("dump", DUMPS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_dump_reads_as_the_official_parser_reads_it(dump):
    text = dump.read_text()
    official = [
        (_as_written(sample.name, text), sample.labels, float(sample.value))
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    ]
    ours = [(line.series.name, line.series.labels, line.value) for line in parse(text)]

    def order(sample):
        return (sample[0], sorted(sample[1].items()))

    same = zip(sorted(ours, key=order), sorted(official, key=order), strict=True)
    assert all(a[:2] == b[:2] and (a[2] == b[2] or (isnan(a[2]) and isnan(b[2]))) for a, b in same)


def _as_written(name, text):
    """The official parser appends ``_total`` to counters that have no such ending."""
    is_there = any(line.startswith(name) for line in text.split("\n"))
    return name if is_there else name.removesuffix("_total")


def test_blanks_carriage_returns_times_and_a_space_before_labels_are_read():
    """C36, C37: interleaved families too; the time stamp 0 is no time."""
    text = 'a_x {l="1"} 1 0\r\nb_x{l="1"} 2\n\n  a_x{l="2"} 3 1700000000000 \nm 4424 \n'
    assert parse(text) == [
        (Labelled("a_x", {"l": "1"}), 1.0, 0),
        (Labelled("b_x", {"l": "1"}), 2.0, 0),
        (Labelled("a_x", {"l": "2"}), 3.0, 1_700_000_000_000),
        (Labelled("m", {}), 4424.0, 0),
    ]
    _, scraped = read(text, kind="none")
    assert sorted(scraped.readings) == [NOW_NS]
    assert len(scraped.readings[NOW_NS]) == 4


def test_bad_lines_cost_themselves_only():
    """C38."""
    text = 'a 1\nb{l="x" 2\nc{l="x"} \nd{l=x} 4\ne 1_0\nf{l="1",l="2"} 3\ng 7 8 9\nh 3\n'
    lines = parse(text)
    assert [line.series.name for line in lines if not isinstance(line, BadLine)] == ["a", "h"]
    assert [bad.line for bad in lines if isinstance(bad, BadLine)] == [
        line.strip() for line in text.split("\n")[1:-2]
    ]


def test_label_values_may_hold_braces_commas_quotes_and_line_ends():
    key = r'm{a="}{",b="x,y=\"z\"",c="1\n2\\",}'
    assert parse_key(key) == Labelled("m", {"a": "}{", "b": 'x,y="z"', "c": "1\n2\\"})
    with pytest.raises(DecodeError):
        parse_key('m{a="1" b="2"}')


def test_gpu_keeps_its_series_when_pod_labels_come_and_go():
    """C21, C25: the slice tells MIG instances apart, the pod does not."""
    plain = 'DCGM_FI_DEV_SM_CLOCK{gpu="0",UUID="GPU-1",Hostname="a"} 1500\n'
    in_pod = 'DCGM_FI_DEV_SM_CLOCK{gpu="0",UUID="GPU-1",Hostname="b",pod="p",container=""} 1500\n'
    mig = 'DCGM_FI_DEV_SM_CLOCK{gpu="0",UUID="GPU-1",GPU_I_ID="7",GPU_I_PROFILE="1g"} 900\n'
    assert read(plain)[0] == read(in_pod)[0] == {("gpu/h1:GPU-1", "gpu_sm_clock_hertz", ""): 1.5e9}
    assert read(mig)[0] == {("gpu/h1:GPU-1:7", "gpu_sm_clock_hertz", ""): 9e8}


def test_blank_sentinels_are_absent():
    """C19: as integer, as rounded float, as 32-bit."""
    blanks = ["9223372036854775792", "9223372036854775794", "9223372036854776000"]
    blanks += ["140737488355328.0", "2147483632", "2147483635"]
    for blank in blanks:
        readings, scraped = read(f'DCGM_FI_DEV_MEMORY_TEMP{{UUID="GPU-1"}} {blank}\n')
        assert (readings, scraped.refused) == ({}, {"blank": 1})
    energy, _ = read('DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{UUID="GPU-1"} 2147483632\n')
    assert energy == {("gpu/h1:GPU-1", "gpu_energy_joules_total", ""): 2147483.632}


def test_either_name_of_a_quantity_gives_one_series_and_both_are_not_counted_twice():
    """C32: old name, new name, and both at once in either order."""
    old = 'vllm:gpu_cache_usage_perc{model_name="m"} 0.25\n'
    new = 'vllm:kv_cache_usage_perc{engine="0",model_name="m"} 0.5\n'
    key = ("engine/chat-0", "llm_kv_cache_usage_ratio", "")
    assert read(old, "vllm", "engine/chat-0")[0] == {key: 0.25}
    for both in (old + new, new + old):
        readings, scraped = read(both, "vllm", "engine/chat-0")
        assert (readings, scraped.refused) == ({key: 0.5}, {"alias": 1})


def test_histograms_keep_their_parts_and_engine_type_stays_an_attribute():
    text = (
        'sglang:time_to_first_token_seconds_sum{engine_type="prefill",model_name="m"} 4.5\n'
        'sglang:time_to_first_token_seconds_count{engine_type="prefill",model_name="m"} 3.0\n'
        'sglang:time_to_first_token_seconds_bucket{engine_type="prefill",le="+Inf"} 3.0\n'
        "process_start_time_seconds 1.7e9\nllm_x_created 1.7e9\n"
    )
    readings, scraped = read(text, "sglang", "engine/chat-0")
    assert readings == {
        ("engine/chat-0", "llm_ttft_seconds_sum", 'engine_type="prefill"'): 4.5,
        ("engine/chat-0", "llm_ttft_seconds_count", 'engine_type="prefill"'): 3.0,
        ("engine/chat-0", "llm_ttft_seconds_bucket", 'engine_type="prefill",le="+Inf"'): 3.0,
        ("engine/chat-0", "process_start_time_seconds", ""): 1.7e9,
    }
    assert (scraped.refused, scraped.known) == ({"created_time": 1}, 3)


def test_names_that_fall_together_are_refused_not_summed():
    """C29: two series that differ only by what is no identity."""
    text = 'DCGM_FI_DEV_GPU_TEMP{UUID="G",pod="a"} 50\nDCGM_FI_DEV_GPU_TEMP{UUID="G",pod="b"} 60\n'
    readings, scraped = read(text)
    assert readings == {("gpu/h1:G", "gpu_temperature_celsius", ""): 50.0}
    assert scraped.refused == {"same_series_other_value": 1}


def test_infiniband_counters_are_the_nics_and_its_second_port_has_a_name():
    text = (
        'node_infiniband_port_data_received_bytes_total{device="mlx5_0",port="1"} 10\n'
        'node_infiniband_port_data_received_bytes_total{device="mlx5_0",port="2"} 20\n'
        'node_network_receive_bytes_total{device="eth0"} 30\n'
    )
    assert read(text, "node_exporter")[0] == {
        ("nic/h1:mlx5_0", "rdma_port_receive_bytes_total", ""): 10.0,
        ("nic/h1:mlx5_0", "rdma_port_receive_bytes_total", 'port="2"'): 20.0,
        ("host/h1", "node_network_receive_bytes_total", 'device="eth0"'): 30.0,
    }


def test_key_is_understood_once_and_forgotten_when_it_is_gone():
    understood = Counter()
    parser = TextParser(lambda series: understood.update([series.name]) or series.name)
    many = "".join(f"m{n} 1\n" for n in range(3000))
    for text in (many, many, "m0 1\n", many):
        list(parser.parse(text))
    assert understood["m0"] == 1
    assert understood["m1"] == 2
