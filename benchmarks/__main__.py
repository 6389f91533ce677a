"""``make bench``: the fast sets, a table each; results with versions go to ``benchmarks/results``.

``make bench-<name>`` runs one of them.
"""

import importlib
import sys

from benchmarks.row import print_table, write_results

_SETS = {
    "ingest": tuple(
        f"speed.{name}" for name in ("frames", "gnmi", "prometheus", "collector", "storage")
    ),
    "detect": ("speed.detectors",),
    "nslb-fast": ("quality.nslb",),
}


def main() -> None:
    names = sys.argv[1:] or list(_SETS)
    if unknown := set(names) - set(_SETS):
        sys.exit(f"no set {min(unknown)!r}, known are {sorted(_SETS)}")
    for name in names:
        rows = [
            row
            for module in _SETS[name]
            for row in importlib.import_module(f"benchmarks.{module}").rows()
        ]
        print(f"\n{name}")
        print_table(rows)
        if not name.endswith("-fast"):  # what is kept of these comes from `make bench-<name>`
            print(f"written to {write_results(name, rows)}")


if __name__ == "__main__":
    main()
