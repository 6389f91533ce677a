"""A replay's result as text: a line a file, then whether all of it arrived."""

from pathlib import Path
from typing import Final

from pipelines.replay.recorded import Recorded
from pipelines.replay.report import FileReport, ReplayReport

_HEADER: Final = ("file", "format", "read", "rows", "refused", "letters")


def file_table(report: ReplayReport, found: Recorded) -> str:
    """Return a line a file: samples read, rows recorded, what was refused, dead letters recorded.

    Samples read are rows plus refused samples, unless something was lost or doubled.
    """
    rows = [_HEADER, *(_row(file, found) for file in report.files)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(_HEADER))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def total_line(report: ReplayReport, found: Recorded) -> str:
    """Return whether samples in = rows out, with the numbers that say so."""
    rows = sum(found.rows_of(file) for file in report.files)
    refused = sum(file.refused_samples for file in report.files)
    reasons = _reasons(report.refused)
    letters = sum(found.letters_of(file) for file in report.files)
    return (
        f"samples in = rows out: {'yes' if is_whole(report, found) else 'NO'}. "
        f"{report.samples + refused:,} read = {rows:,} rows + {refused:,} refused ({reasons}); "
        f"{letters} of {report.letters} dead letters recorded; {report.frames:,} frames"
    )


def is_whole(report: ReplayReport, found: Recorded) -> bool:
    """Tell whether nothing was lost or doubled, of any file."""
    return not report.unsent and all(found.is_whole(file) for file in report.files)


def _row(file: FileReport, found: Recorded) -> tuple[str, ...]:
    read = file.samples + file.refused_samples
    mark = "" if found.is_whole(file) else "  <- NOT ALL"
    return (
        _short(file.path),
        file.format or "-",
        f"{read:,}",
        f"{found.rows_of(file):,}",
        file.error or _reasons(file.refused),
        f"{found.letters_of(file)}{mark}",
    )


def _reasons(refused: dict[str, int]) -> str:
    told = ", ".join(f"{count:,} {reason}" for reason, count in sorted(refused.items()))
    return told or "none"


def _short(path: Path) -> str:
    return "/".join(path.parts[-2:])
