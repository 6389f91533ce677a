"""A scrape that is like the last one says by column what it says line by line."""

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.collect.scrape_text import ScrapeText
from tests.paths import data_root

DUMPS = sorted((data_root() / "samples").rglob("*.prom"))
NOW_NS = 1_700_000_000_000_000_000

BEFORE = [
    'DCGM_FI_DEV_SM_CLOCK{gpu="0",UUID="GPU-1"} ',
    'DCGM_FI_DEV_MEMORY_TEMP{gpu="0",UUID="GPU-1"} ',
    'DCGM_FI_DEV_MEMORY_TEMP{gpu="0",UUID="GPU-1",pod="a"} ',
    'DCGM_FI_DEV_MEMORY_TEMP{gpu="0",UUID="GPU-1",pod="b"}\t',
    'DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{UUID="GPU-1"} ',
    '  vllm:gpu_cache_usage_perc{model_name="m"}',
    'vllm:kv_cache_usage_perc{engine="0",model_name="m"} ',
    'm_bucket{le="+Inf",a="}{\\"\\n"} ',
    "process_start_time_seconds ",
    "process_start_time_seconds1 ",
    "llm_x_created ",
    "a",
    "a 1",
    "a{b 1",
    "# HELP a b",
    "",
]
VALUES = [
    "0", "1.5", "-2e-3", "NaN", "+Inf", "-inf", "9223372036854775794", "2147483632",
    "140737488355328.0", "1_0", "", "1e400", "0x1", "nan ", "5 1700000000000", "5 0", "6 123456",
    "7 1700000000000 8", "8 99999999999999999999", "9 9300000000000", "3 -1", "4\r", "\u0663",
]  # fmt: skip
lines = st.tuples(st.sampled_from(BEFORE), st.sampled_from(VALUES))
kinds = st.sampled_from(["dcgm", "vllm", "none"])


def told(scraped, slots):
    """Return everything that a scrape said, readings in no order."""
    readings = {
        time_ns: sorted((tuple(key), struct.pack("<d", value)) for key, value in some)
        for time_ns, some in scraped.readings.items()
    }
    if scraped.columns is not None:
        times, counts, numbered, values = scraped.columns
        assert sorted(set(times.tolist())) == times.tolist()
        place = 0
        for time_ns, count in zip(times.tolist(), counts.tolist(), strict=True):
            readings.setdefault(time_ns, []).extend(
                (tuple(slots.keys[slot]), struct.pack("<d", value))
                for slot, value in zip(
                    numbered[place : place + count].tolist(),
                    values[place : place + count].tolist(),
                    strict=True,
                )
            )
            readings[time_ns].sort()
            place += count
        assert place == len(numbered) == len(values)
    return readings, scraped.lines, scraped.known, scraped.bad, scraped.refused


def assert_same(kind, texts):
    ours = ScrapeText(kind, "host/h1")
    by_column = 0
    for text in texts:
        official = ScrapeText(kind, "host/h1")
        expected = told(official.read(text, NOW_NS), official.slots)
        found = ours.read_columns(text, NOW_NS)
        by_column += found.columns is not None
        assert told(found, ours.slots) == expected
    return by_column


@settings(max_examples=300, deadline=None)
@given(kinds, st.lists(st.lists(lines, max_size=8), min_size=1, max_size=2), st.data())
def test_any_scrapes_say_what_they_say_line_by_line(kind, scrapes, data):
    texts = []
    for scrape in scrapes * 2:
        values = data.draw(
            st.just([value for _, value in scrape])
            | st.lists(st.sampled_from(VALUES[:9]), min_size=len(scrape), max_size=len(scrape))
        )
        written = (before + value for (before, _), value in zip(scrape, values, strict=True))
        texts += ["\n".join(written)] * data.draw(st.integers(1, 2))
    assert_same(kind, texts)


@pytest.mark.parametrize("dump", DUMPS, ids=lambda path: f"{path.parent.name}/{path.name}")
@pytest.mark.parametrize("kind", ["dcgm", "vllm", "sglang", "node_exporter", "none"])
def test_dump_says_by_column_what_it_says_line_by_line(dump, kind):
    text = dump.read_text()
    assert assert_same(kind, [text, text, text.replace(" 0", " 7"), text + "\n", text]) >= 1


def test_other_name_with_the_same_beginning_is_not_taken_for_the_known_one():
    ours = ScrapeText("none", "host/h1")
    ours.read_columns("ab 1\n", NOW_NS)
    for text in ("abc 1\n", "ab1 1\n", "ab1\n", 'ab{c="d"} 1\n', "ab \n"):
        found = ours.read_columns(text, NOW_NS)
        fresh = ScrapeText("none", "host/h1")
        assert told(found, ours.slots) == told(fresh.read(text, NOW_NS), fresh.slots)
        ours.read_columns("ab 1\n", NOW_NS)


def test_lines_that_came_as_comments_are_seen_when_they_are_samples():
    ours = ScrapeText("none", "host/h1")
    for text, lines in (("# a 1\n\nb 1", 1), ("# a 1\nc 2\nb 1", 2), ("a 1\n\nb 1", 2)):
        ours.read_columns("# a 1\n\nb 1", NOW_NS)
        assert ours.read_columns(text, NOW_NS).lines == lines


def test_names_that_come_and_go_cost_no_memory_in_the_end():
    """C16."""
    ours = ScrapeText("none", "host/h1")
    for n in range(3000):
        for _ in range(2):
            assert len(ours.read_columns(f'a{{n="{n}"}} 1\n', NOW_NS).refused) == 0
    assert len(ours.slots) <= 1010
