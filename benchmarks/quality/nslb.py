"""``make bench-nslb``: all flows placed together, beside ECMP, greedy choice and the bound.

Every case runs in a process of its own, so that its peak memory is its own.
"""

import argparse
import importlib
import multiprocessing
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product

from benchmarks.quality.nslb_cases import n1, n2, n6
from benchmarks.quality.nslb_events import n3, n5, n7, n8
from benchmarks.row import Row, short, write_results

SEEDS = (0, 1, 2, 3, 4)
_FEW_SEEDS = (0, 1)
_FORWARDING = "benchmarks.speed.forwarding"

_TIERS = (2, 3)
_LOADS = (("ring", SEEDS), ("all-to-all", _FEW_SEEDS))
_EVENTS = (("N5-churn", n5), ("N7-hashed", n7), ("N8-wrong-sizes", n8))

Case = tuple[str, Callable[[], list[Row]]]


def cases() -> Iterator[Case]:
    """Yield all cases with what their ids begin with."""
    for tiers, traffic in product(_TIERS, ("ring", "rings", "all-to-all", "skewed", "mixed")):
        yield f"N1-{traffic}-{tiers}t", partial(n1, tiers, traffic, SEEDS)
    for tiers, (traffic, seeds) in product(_TIERS, _LOADS):
        yield f"N2-{traffic}-{tiers}t", partial(n2, tiers, traffic, seeds)
    for tiers, event, (traffic, seeds) in product(_TIERS, ("link", "switch", "percent"), _LOADS):
        yield f"N3-{event}-{traffic}-{tiers}t", partial(n3, tiers, event, traffic, seeds)
    for spines, (traffic, seeds) in product((31, 34, 36), _LOADS):
        yield f"N6-{spines}-{traffic}", partial(n6, spines, traffic, seeds)
    for (name, case), tiers in product(_EVENTS, _TIERS):
        yield f"{name}-{tiers}t", partial(case, tiers, SEEDS)


def fast_cases() -> Iterator[Case]:
    """Yield what is done within a minute: one seed, the lighter traffic."""
    for tiers in (2, 3):
        yield "N1", partial(n1, tiers, "ring", SEEDS[:1])
        yield "N3", partial(n3, tiers, "link", "ring", SEEDS[:1])
    yield "N1", partial(n1, 3, "mixed", SEEDS[:1])
    yield "N5", partial(n5, 3, SEEDS[:1], rounds=2)
    yield "N6", partial(n6, 31, "ring", SEEDS[:1])
    yield "N7", partial(n7, 2, SEEDS[:1])


def rows() -> list[Row]:
    """Return the rows of the fast set."""
    return [row for _, case in fast_cases() for row in run_apart(case)]


def run_apart(case: Callable[[], list[Row]]) -> list[Row]:
    """Return the rows of a case from a process of its own."""
    fresh = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=1, mp_context=fresh) as pool:
        return pool.submit(case).result()


def forwarding_rows() -> tuple[list[Row], str]:
    """Return the rows of N4 and, where it cannot run here, why not."""
    try:
        module = importlib.import_module(_FORWARDING)
        found: list[Row] = module.rows()
    except Exception as error:  # noqa: BLE001 - whatever it is, the other rows are told
        return [], f"N4 not measured: {type(error).__name__}: {error}"
    return found, "" if found else "N4 not measured: it cannot run on this machine"


def print_row(row: Row) -> None:
    """Print a figure beside ECMP, local choice, greedy choice and the bound, and what it cost."""
    others = row.others
    told = [row.value, row.baseline, others.get("local"), others.get("greedy"), row.bound]
    seconds = others.get("cpu_seconds")
    cost = (None if seconds is None else seconds * 1e3, others.get("peak_mb"))
    holds = {True: "yes", False: "no", None: ""}[row.holds]
    print(
        f"{row.id:<30}",
        *(f"{short(figure):>8}" for figure in (*told, row.target)),
        f"{holds:<5}",
        *(f"{short(figure):>8}" for figure in cost),
        f" {row.what} ({row.unit})",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("only", nargs="*", help="cases by the beginning of their ids: N1 N3-link")
    only = tuple(parser.parse_args().only)
    names = ("placed", "ECMP", "local", "greedy", "bound", "target")
    print(
        f"{'id':<30}", *(f"{name:>8}" for name in names), "holds", f"{'CPU ms':>8} {'MB':>8}  what"
    )
    done: list[Row] = []
    for name, case in cases():
        if name.startswith(only or ""):
            found = run_apart(case)
            for row in found:
                print_row(row)
            done += found
    if not only or "N4".startswith(only):
        found, why_not = forwarding_rows()
        for row in found:
            print_row(row)
        print(why_not or "N4 measured on Linux network namespaces")
        done += found
    if not only:
        print(f"written to {write_results('nslb', sorted(done, key=lambda row: row.id[:2]))}")


if __name__ == "__main__":
    main()
