"""What is wrong with a cluster's wiring, or worth knowing."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing found.

    Attributes
    ----------
    kind
        One of a closed list of words with underscores, ``one_sided``.
    component
        What it is about, ``port/leaf1:Ethernet49``.
    severity
        ``fault``: the wiring is not what a working fabric has, or not what was configured.
        ``note``: it works and may be meant so.
    """

    kind: str
    component: str
    text: str
    severity: Literal["fault", "note"] = "fault"

    def __str__(self) -> str:
        return f"{self.severity}  {self.kind:<20}  {self.component}: {self.text}"
