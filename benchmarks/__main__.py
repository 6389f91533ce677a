"""``make bench``: the fast set, one table; results with versions go to ``benchmarks/results``."""

import importlib

from benchmarks.row import print_table, write_results

_SETS = {
    "ingest": ("frames", "gnmi", "prometheus", "storage"),
    "detect": ("detectors",),
}


def main() -> None:
    for name, modules in _SETS.items():
        rows = [
            row
            for module in modules
            for row in importlib.import_module(f"benchmarks.speed.{module}").rows()
        ]
        print(f"\n{name}")
        print_table(rows)
        print(f"written to {write_results(name, rows)}")


if __name__ == "__main__":
    main()
