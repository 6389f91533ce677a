"""Prometheus' text form."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from simulator.world.histogram import Histogram

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
Style = Literal["python", "go"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Exposition:
    """Builds one answer to a scrape.

    Attributes
    ----------
    style
        Whose client wrote it: ``python`` writes 2 as ``2.0``, ``go`` and Rust as ``2``.
    stamp
        Text behind each value: empty, or a space and milliseconds.
    """

    lines: list[str]
    style: Style = "go"
    stamp: str = ""

    def family(self, name: str, kind: str, text: str, samples: Iterable[tuple[str, float]]) -> None:
        """Add a family; each sample is its label text (see `labels`) and value."""
        self.lines.append(f"# HELP {name} {text}")
        self.lines.append(f"# TYPE {name} {kind}")
        write, stamp = _WRITERS[self.style], self.stamp
        self.lines.extend(f"{name}{label} {write(value)}{stamp}" for label, value in samples)

    def histogram(
        self, name: str, text: str, pairs: Mapping[str, str], histogram: Histogram
    ) -> None:
        write = _WRITERS[self.style]
        below = 0.0
        buckets = []
        for bound, count in zip(
            [*map(write, histogram.bounds), "+Inf"], histogram.counts, strict=True
        ):
            below += count
            buckets.append((labels({**pairs, "le": bound}), float(round(below))))
        self.family(name, "histogram", text, [])
        for suffix, samples in (
            ("_bucket", buckets),
            ("_sum", [(labels(pairs), histogram.total)]),
            ("_count", [(labels(pairs), float(round(histogram.count)))]),
        ):
            self.lines.extend(
                f"{name}{suffix}{label} {write(value)}{self.stamp}" for label, value in samples
            )

    def text(self) -> str:
        return "\n".join(self.lines) + "\n"


def labels(pairs: Mapping[str, str]) -> str:
    inner = ",".join(f'{name}="{value}"' for name, value in pairs.items())
    return f"{{{inner}}}" if inner else ""


def _python_number(value: float) -> str:
    return repr(float(value))


def _go_number(value: float) -> str:
    return str(int(value)) if value == int(value) else f"{value:.9g}"


_WRITERS: dict[Style, Callable[[float], str]] = {"python": _python_number, "go": _go_number}
