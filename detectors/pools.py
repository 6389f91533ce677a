"""Series of a pool: the median over a service's engines with one role."""

from dataclasses import dataclass, field
from statistics import median

import numpy as np

from cluster import component as names
from cluster.frame import Layout, SeriesKey
from cluster.topology import Topology
from detectors.peers import role_of
from detectors.series import Floats

POOL_METRICS = (
    "llm_requests_running",
    "llm_requests_waiting",
    "llm_kv_cache_usage_ratio",
    "llm_preemptions_per_second",
    "llm_prefill_inflight_queue_requests",
    "llm_decode_transfer_queue_requests",
    "llm_decode_prealloc_queue_requests",
    "llm_ttft_seconds_mean",
    "llm_tpot_seconds_mean",
    "llm_queue_seconds_mean",
)
_FRESH_NS = 30_000_000_000
_Column = tuple[int, str, str, int]
_PLACE = {metric: i for i, metric in enumerate(POOL_METRICS)}


@dataclass(slots=True)
class _Pool:
    """Newest values of each engine, and who has reported since the pool's last row."""

    values: dict[str, Floats] = field(default_factory=dict)
    seen_ns: dict[str, int] = field(default_factory=dict)
    reported: set[str] = field(default_factory=set)

    def row(self, at_ns: int) -> Floats:
        fresh = [self.values[e] for e, seen in self.seen_ns.items() if at_ns - seen <= _FRESH_NS]
        if not fresh:
            return np.full(len(POOL_METRICS), np.nan)
        columns = np.array(fresh).T
        return np.array([median(c) if len(c := col[~np.isnan(col)]) else np.nan for col in columns])


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolRow:
    """One reading of a pool; ``values`` are in the order of `POOL_METRICS`."""

    pool: str
    at_ns: int
    values: Floats

    @property
    def keys(self) -> tuple[SeriesKey, ...]:
        return tuple(SeriesKey(self.pool, metric) for metric in POOL_METRICS)


class Pools:
    """Collects what engines report into one row per pool and round of reports.

    `changed` names the pools whose members changed since it was last taken.
    """

    def __init__(self, topology: Topology) -> None:
        self._services = {
            engine: service.name for engine, service in topology.service_of_engine.items()
        }
        self._roles: dict[str, str] = {}
        self._pools: dict[str, _Pool] = {}
        self._changed: set[str] = set()
        self._plans: dict[int, list[_Column]] = {}

    def __getstate__(self) -> dict[str, object]:
        return self.__dict__ | {"_plans": {}}

    def take_changed(self) -> list[str]:
        """Return pools that an engine left or came to, once."""
        changed, self._changed = sorted(self._changed), set()
        return changed

    def names(self) -> list[str]:
        """Return the pools that were seen."""
        return sorted(self._pools)

    def level(self, pool: str, metric: str, at_ns: int) -> float:
        """Return the pool's newest median of a metric; NaN when nothing is known."""
        found = self._pools.get(pool)
        if found is None or not found.values:
            return np.nan
        return float(found.row(at_ns)[_PLACE[metric]])

    def take(self, layout: Layout, at_ns: int, values: Floats) -> list[PoolRow]:
        """Take one row of an engine's derived values in; return the pool rows it completes."""
        rows = []
        plan = self._plans.get(layout.layout_id)
        if plan is None:
            plan = self._plans[layout.layout_id] = _planned(layout)
        for engine, role, reading in _readings(plan, values):
            service = self._services.get(engine)
            if service is None:
                continue
            name = names.pool(service, role)
            self._note_role(engine, name)
            pool = self._pools.setdefault(name, _Pool())
            if engine in pool.reported:
                rows.append(PoolRow(pool=name, at_ns=at_ns, values=pool.row(at_ns)))
                pool.reported.clear()
            pool.reported.add(engine)
            pool.values[engine] = reading
            pool.seen_ns[engine] = at_ns
        return rows

    def _note_role(self, engine: str, pool: str) -> None:
        before = self._roles.get(engine)
        if before == pool:
            return
        self._roles[engine] = pool
        if before is not None:
            self._changed |= {before, pool}
            old = self._pools[before]
            old.values.pop(engine, None)
            old.seen_ns.pop(engine, None)
            old.reported.discard(engine)


def _planned(layout: Layout) -> list[_Column]:
    found = []
    for i, key in enumerate(layout.columns):
        role = role_of(key.attributes)
        if key.metric in _PLACE and role in {"prefill", "decode"}:
            found.append((i, key.component, role, _PLACE[key.metric]))
    return found


def _readings(plan: list[_Column], values: Floats) -> list[tuple[str, str, Floats]]:
    """Return (engine, role, values in the order of `POOL_METRICS`) for each engine in a row.

    After a role change an exporter may still show the old role's series: the role with more
    values that are there is the engine's.
    """
    found: dict[tuple[str, str], Floats] = {}
    for column, engine, role, place in plan:
        reading = found.setdefault((engine, role), np.full(len(POOL_METRICS), np.nan))
        if np.isnan(reading[place]):
            reading[place] = values[column]
    best: dict[str, tuple[str, Floats]] = {}
    for (engine, role), reading in found.items():
        other = best.get(engine)
        if other is None or _present(reading) > _present(other[1]):
            best[engine] = (role, reading)
    return [(engine, role, r) for engine, (role, r) in best.items() if _present(r)]


def _present(reading: Floats) -> int:
    return int(np.count_nonzero(~np.isnan(reading)))
