"""Where tests find real inputs; a small input of our own stands beside each."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
INPUTS = ROOT / "tests" / "inputs"


def data_root() -> Path:
    """Return the folder of recorded data: ``TRIMTAB_DATA``, by default ``../shared/data``."""
    return Path(os.environ.get("TRIMTAB_DATA", ROOT.parent / "shared" / "data"))


def data_path(relative: str) -> Path:
    """Return a path of the recorded data; the test is skipped where the data are absent."""
    path = data_root() / relative
    if not path.exists():
        pytest.skip(f"recorded data not here: {relative}")
    return path
