"""One measured figure, and how it is printed and kept."""

import json
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

RESULTS = Path(__file__).parent / "results"
_PACKAGES = (
    "numpy",
    "numba",
    "river",
    "protobuf",
    "grpcio",
    "faust-streaming",
    "prometheus-client",
    "chdb",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A figure beside its baseline, measured in the same run, and its target.

    Attributes
    ----------
    baseline
        What a plain way of doing the same reached in this run; None where there is none.
    bound
        What cannot be beaten; None where it is not known.
    holds
        The target is reached.
    others
        Further figures by name: what else was compared, what it cost.
    """

    id: str
    what: str
    value: float
    unit: str
    baseline: float | None = None
    bound: float | None = None
    target: float | None = None
    holds: bool | None = None
    others: dict[str, float] = field(default_factory=dict)


def rate(work: Callable[[], int], *, seconds: float = 1.0, repeats: int = 3) -> float:
    """Return the best rate per second of ``work``, which returns how much it did."""
    return _best_rate(work, time.perf_counter, seconds=seconds, repeats=repeats)


def core_rate(work: Callable[[], int], *, seconds: float = 1.0, repeats: int = 3) -> float:
    """Return the same per second of one core, whatever else the machine has to do meanwhile."""
    return _best_rate(work, time.process_time, seconds=seconds, repeats=repeats)


def _best_rate(
    work: Callable[[], int], clock: Callable[[], float], *, seconds: float, repeats: int
) -> float:
    best = 0.0
    for _ in range(repeats):
        done, started = 0, clock()
        while (elapsed := clock() - started) < seconds:
            done += work()
        best = max(best, done / elapsed)
    return best


def print_table(rows: Sequence[Row]) -> None:
    print(f"{'id':<26} {'figure':>12} {'baseline':>12} {'ratio':>7} {'target':>10}  holds  what")
    for row in rows:
        ratio = "" if not row.baseline else f"{row.value / row.baseline:.1f}"
        holds = "" if row.holds is None else ("yes" if row.holds else "no")
        print(
            f"{row.id:<26} {short(row.value):>12} {short(row.baseline):>12} {ratio:>7} "
            f"{short(row.target):>10}  {holds:<5}  {row.what} ({row.unit})"
        )


def write_results(name: str, rows: Sequence[Row]) -> Path:
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    told = {
        "name": name,
        "machine": f"{platform.machine()} {platform.system()} Python {platform.python_version()}",
        "versions": {package: _version(package) for package in _PACKAGES},
        "rows": [asdict(row) for row in rows],
    }
    path.write_text(json.dumps(told, indent=1) + "\n")
    return path


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def short(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
