"""What the catalogue knows of one metric."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Kind(StrEnum):
    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"
    STATE = "state"


class Bad(StrEnum):
    """The direction that is bad."""

    UP = "up"
    DOWN = "down"
    BOTH = "both"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A metric's name at one kind of source, and the factor that turns its unit into ours."""

    name: str
    scale: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One row of the catalogue.

    Attributes
    ----------
    name
        Canonical; counters end in ``_total``; a histogram has the series ``<name>_sum``,
        ``<name>_count``
        and ``<name>_bucket`` with the attribute ``le``.
    unit
        UCUM, as OpenTelemetry writes it: ``By``, ``s``, ``1``, ``Hz``, ``W``, ``Cel``.
    bad
        Direction that means degradation; ``none``: context that accuses nobody.
    least_effect_ratio
        Relative change that is worth telling.
    least_peer_ratio
        Relative distance from its peers that is worth telling; None: as much as in its own history,
        five per cent at least.
    log
        Standardised on a logarithmic scale: bit error ratios, latencies.
    lowest, highest
        Physical range; what lies outside is refused.
    sources
        Names by kind of source: ``openconfig``, ``sonic``, ``dcgm``, ``vllm``, ``sglang``,
        ``node_exporter`` ...;
        the first that is present is taken.
    moves
        True when a healthy component cannot keep it constant: an exactly constant value is then a
        telemetry fault.
    """

    name: str
    kind: Kind
    unit: str
    bad: Bad = Bad.NONE
    least_effect_ratio: float = 0.1
    least_peer_ratio: float | None = None
    log: bool = False
    lowest: float = 0.0
    highest: float = float("inf")
    sources: Mapping[str, tuple[Source, ...]] = field(default_factory=dict)
    moves: bool = False
