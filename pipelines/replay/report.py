"""What a replay did, file by file: every sample is accounted for."""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

UNREADABLE = "unreadable_file"


@dataclass(slots=True, kw_only=True)
class FileReport:
    """One file.

    Attributes
    ----------
    collector
        By this name the frames of this file and this replay are told from all others.
    samples
        Readings that were accepted; each becomes one row.
    refused
        Samples that were not, by reason; a file that cannot be read (to its end) is one of its own.
    letter_ids
        Dead letters sent for what was refused, one a reason.
    error
        Why the file could not be read, or not to its end; else empty.
    first_ns, last_ns
        Device times of the earliest and the latest sample, 0 when there was none.
    """

    path: Path
    collector: str
    cell: str
    format: str = ""
    samples: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    letter_ids: list[str] = field(default_factory=list)
    error: str = ""
    first_ns: int = 0
    last_ns: int = 0

    @property
    def refused_samples(self) -> int:
        return self.refused.total() - self.refused[UNREADABLE]

    def took(self, samples: int, time_ns: int) -> None:
        self.samples += samples
        self.first_ns = min(self.first_ns or time_ns, time_ns)
        self.last_ns = max(self.last_ns, time_ns)


@dataclass(slots=True, kw_only=True)
class ReplayReport:
    """The whole replay.

    Attributes
    ----------
    frames, letters
        Messages handed to Kafka.
    unsent
        Messages that Kafka did not acknowledge; 0 when everything arrived.
    """

    files: list[FileReport] = field(default_factory=list)
    frames: int = 0
    letters: int = 0
    unsent: int = 0

    @property
    def samples(self) -> int:
        return sum(file.samples for file in self.files)

    @property
    def refused(self) -> Counter[str]:
        return sum((file.refused for file in self.files), Counter())
