"""The text parser against prometheus_client's, on recorded dumps where they are there."""

from prometheus_client.parser import text_string_to_metric_families

from benchmarks.data import data_root
from benchmarks.row import Row, rate
from pipelines.collect.prometheus import Line, TextParser

_DUMPS = ("vllm/v1_engine_mfu_build_full.prom", "dcgm/l4_idle_full_driver580.prom")


def rows() -> list[Row]:
    return [_row(name) for name in _DUMPS if (data_root() / "samples" / name).exists()]


def _row(name: str) -> Row:
    text = (data_root() / "samples" / name).read_text()
    parser = TextParser(lambda labelled: labelled)

    def ours() -> int:
        return sum(isinstance(line, Line) for line in parser.parse(text))

    def theirs() -> int:
        return sum(len(family.samples) for family in text_string_to_metric_families(text))

    if ours() != theirs():
        raise ValueError(f"{name}: {ours()} samples by ours, {theirs()} by prometheus_client")
    value, baseline = rate(ours), rate(theirs)
    return Row(
        id=f"I2-{name.partition('/')[0]}",
        what=f"samples parsed from {name}, against prometheus_client",
        value=value,
        baseline=baseline,
        unit="samples/s",
        target=1e6,
        holds=value >= 1e6 and value >= 20 * baseline,
    )
