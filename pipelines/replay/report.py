"""What a replay did, file by file: every sample is accounted for."""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(slots=True, kw_only=True)
class FileReport:
    """One file.

    Attributes
    ----------
    samples
        Readings that were accepted; each becomes one row.
    refused
        Samples that were not, by reason.
    error
        Why the file could not be read, or not to its end; else empty.
    """

    path: Path
    format: str = ""
    samples: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    error: str = ""


@dataclass(slots=True, kw_only=True)
class ReplayReport:
    """The whole replay.

    Attributes
    ----------
    frames, letters
        Messages handed to Kafka.
    unsent
        Messages that Kafka did not acknowledge; 0 when everything arrived.
    first_ns, last_ns
        Device times of the earliest and the latest sample, 0 when there was none.
    collector
        By this name the frames of this replay are told from others.
    """

    collector: str
    files: list[FileReport] = field(default_factory=list)
    frames: int = 0
    letters: int = 0
    unsent: int = 0
    first_ns: int = 0
    last_ns: int = 0

    @property
    def samples(self) -> int:
        return sum(file.samples for file in self.files)

    @property
    def refused(self) -> Counter[str]:
        return sum((file.refused for file in self.files), Counter())
