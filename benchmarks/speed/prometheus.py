"""Scrapes against prometheus_client's parser, on recorded dumps where they are there."""

from math import isnan

from prometheus_client.parser import text_string_to_metric_families

from benchmarks.data import data_root
from benchmarks.row import Row, core_rate
from pipelines.collect.prometheus import Labelled, TextParser
from pipelines.collect.scrape_text import ScrapeText

_DUMPS = (
    "vllm/v1_engine_mfu_build_full.prom",
    "dcgm/l4_idle_full_driver580.prom",
    "node_exporter/infiniband.prom",
)
_KINDS = {"vllm": "vllm", "dcgm": "dcgm", "node_exporter": "node_exporter"}
_TARGET, _TIMES = 1e6, 20.0


def rows() -> list[Row]:
    return [
        row for name in _DUMPS if (data_root() / "samples" / name).exists() for row in _rows(name)
    ]


def _rows(name: str) -> list[Row]:
    text = (data_root() / "samples" / name).read_text()
    kind = name.partition("/")[0]
    parser = TextParser(lambda labelled: labelled)
    _check_same(name, parser, text)
    scrapes = ScrapeText(_KINDS[kind], "host/h1")
    scrapes.read(text, 1)

    def ours() -> int:
        scrape = parser.columns(text)
        return 0 if scrape is None else len(scrape.numbers.values)

    def theirs() -> int:
        return sum(len(family.samples) for family in text_string_to_metric_families(text))

    def readings() -> int:
        return scrapes.read_columns(text, 1).lines

    value, baseline = core_rate(ours), core_rate(theirs)
    return [
        Row(
            id=f"I2-{kind}",
            what=f"samples parsed from {name}, as the scrape after it; against prometheus_client",
            value=value,
            baseline=baseline,
            unit="samples/s",
            target=_TARGET,
            holds=value >= _TARGET and value >= _TIMES * baseline,
        ),
        Row(
            id=f"I2-{kind}-readings",
            what="the same to readings by column: names, units, blanks",
            value=core_rate(readings),
            unit="samples/s",
        ),
    ]


def _check_same(name: str, parser: TextParser[Labelled], text: str) -> None:
    """Check that both find the same samples, on the text that the rates are measured on."""
    list(parser.parse(text))
    scrape = parser.columns(text)
    if scrape is None:
        raise ValueError(f"{name}: a second scrape is not taken for one like the first")
    ours = zip(scrape.series, scrape.numbers.values.tolist(), strict=True)
    theirs = [
        (sample.labels, float(sample.value))
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    ]
    # Names differ: theirs get _total where a counter has none.
    found = sorted(_comparable(series.labels, value) for series, value in ours)
    expected = sorted(_comparable(labels, value) for labels, value in theirs)
    if found != expected:
        raise ValueError(f"{name}: other samples than prometheus_client's")


def _comparable(labels: dict[str, str], value: float) -> tuple[list[tuple[str, str]], str]:
    return sorted(labels.items()), "NaN" if isnan(value) else repr(value)
