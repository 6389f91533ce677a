"""Where recorded data are: ``TRIMTAB_DATA``, by default ``../shared/data``."""

import os
from pathlib import Path


def data_root() -> Path:
    root = Path(__file__).resolve().parents[2] / "shared" / "data"
    return Path(os.environ.get("TRIMTAB_DATA", root))
