"""Recorded scrapes: Prometheus' text form, through the names of live collection."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from pipelines.collect.scrape_text import ScrapeText
from pipelines.replay.batch import Batch

# A word that only this kind of source writes, the kind, and what it is delivered by.
_KINDS: Final = (
    ("DCGM_FI_", "dcgm", "host"),
    ("node_", "node_exporter", "host"),
    ("vllm:", "vllm", "engine"),
    ("ray_vllm", "vllm", "engine"),
    ("sglang:", "sglang", "engine"),
    ("dynamo_", "dynamo", "service"),
)


def read_dump(path: Path, text: str, now_ns: int) -> Iterator[Batch]:
    """Yield a batch for each device time in a scrape; ``now_ns`` where a sample has none."""
    kind, owner = _kind_of(text)
    source = f"{owner}/{path.name.partition('.')[0]}"
    scraped = ScrapeText(kind, source).read(text, now_ns)
    first = Batch(source=source, group=kind, time_ns=now_ns)
    for reason, count in scraped.refused.items():
        first.refuse(reason, "", count)
    for bad in scraped.bad:
        first.refuse("bad_line", bad.line)
    first.readings = scraped.readings.pop(now_ns, [])
    yield first
    for time_ns, readings in scraped.readings.items():
        yield Batch(source=source, group=kind, time_ns=time_ns, readings=readings)


def is_dump(text: str) -> bool:
    """Tell whether the first line that is no comment looks like a sample."""
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            *_, last = line.split()
            return last.replace(".", "", 1).lstrip("+-").split("e")[0].isdigit() or last in _WORDS
    return False


_WORDS: Final = frozenset({"NaN", "+Inf", "-Inf"})


def _kind_of(text: str) -> tuple[str, str]:
    for word, kind, owner in _KINDS:
        if any(line.startswith(word) for line in text.splitlines()):
            return kind, owner
    return "other", "target"
