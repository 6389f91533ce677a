"""What a scraped series is to us: component, canonical name, scale; by kind of source."""

from typing import Final, NamedTuple

from cluster import catalogue, component
from cluster.frame import SeriesKey, format_attributes
from cluster.metric import Kind, Metric
from pipelines.collect.prometheus import Labelled

# Labels that change with a job, a restart or an update while the hardware stays the same.
_CHANGING: Final = frozenset(
    {
        "pod", "namespace", "container", "exported_pod", "exported_namespace",
        "exported_container", "Hostname", "hostname", "instance", "job", "modelName",
        "model_name", "err_code", "err_msg",
        "Component", "NodeAddress", "ReplicaId", "SessionName", "Version", "WorkerId",
    }
)  # fmt: skip
# How dcgm-exporter tells cards apart; the component says it already.
_CARD: Final = frozenset(
    {"gpu", "UUID", "uuid", "gpu_uuid", "device", "pci_bus_id", "GPU_I_PROFILE", "GPU_I_ID"}
)
# Indices within an engine: the first is the engine itself, as it was before it had any.
_FIRST_IS_SELF: Final = {
    "engine": "0",
    "tp_rank": "0",
    "pp_rank": "0",
    "dp_rank": "0",
    "moe_ep_rank": "0",
    "port": "1",
}
_ENGINES: Final = frozenset({"vllm", "sglang", "dynamo"})
_RAY: Final = ("ray_vllm:", "ray_vllm_")
_PARTS: Final = ("_sum", "_count", "_bucket")


class Series(NamedTuple):
    """A scraped series.

    Attributes
    ----------
    key
        None when the series is dropped; ``dropped`` tells why.
    rank
        Of several names for one quantity the lowest that is present holds.
    highest
        Largest value that is possible, in the source's unit.
    known
        The catalogue has it.
    """

    key: SeriesKey | None
    scale: float = 1.0
    rank: int = 0
    highest: float = float("inf")
    known: bool = False
    dropped: str = ""


class ScrapedNames:
    """Names of one target.

    Parameters
    ----------
    kind
        Whose names they are, a column of the catalogue; another word for none of them.
    owner
        Component that what is not a GPU's or a NIC's belongs to.
    """

    def __init__(self, kind: str, owner: str) -> None:
        self._kind = kind
        self._owner = owner
        self._host = component.name_of(owner)

    def __call__(self, series: Labelled) -> Series:
        name, labels = _without_ray(series.name), series.labels
        if name.endswith("_created"):
            # Epoch seconds of the process: no quantity of anything that degrades.
            return Series(None, dropped="created_time")
        metric, canonical, scale, rank = self._canonical(name)
        owner = self._component(name, labels)
        attributes = {
            label: value
            for label, value in labels.items()
            if not self._is_dropped(label, value) and not (label == "device" and _is_nic(owner))
        }
        return Series(
            SeriesKey(owner, canonical, format_attributes(attributes)),
            scale=scale,
            rank=rank,
            highest=metric.highest / scale if metric is not None else float("inf"),
            known=metric is not None,
        )

    def _canonical(self, name: str) -> tuple[Metric | None, str, float, int]:
        named = catalogue.by_source(self._kind).get(name)
        if named is not None:
            rank = _rank(named.metric, self._kind, name)
            return named.metric, named.metric.name, named.scale, rank
        for part in _PARTS:
            base = name.removesuffix(part)
            named = catalogue.by_source(self._kind).get(base)
            if base != name and named is not None and named.metric.kind is Kind.HISTOGRAM:
                scale = named.scale if part == "_sum" else 1.0
                rank = _rank(named.metric, self._kind, base)
                return named.metric, named.metric.name + part, scale, rank
        return None, name, 1.0, 0

    def _component(self, name: str, labels: dict[str, str]) -> str:
        if self._kind == "dcgm":
            card = _first(labels, "UUID", "uuid", "gpu_uuid", "gpu")
            if card:
                return component.gpu(self._host, card, labels.get("GPU_I_ID", ""))
        if name.startswith("node_infiniband_") and labels.get("device"):
            return component.nic(self._host, labels["device"])
        return self._owner

    def _is_dropped(self, label: str, value: str) -> bool:
        if label in _CHANGING or _FIRST_IS_SELF.get(label) == value:
            return True
        if self._kind == "dcgm":
            return label in _CARD or label.startswith("DCGM_FI_")
        return self._kind in _ENGINES and label == "name"


def _is_nic(owner: str) -> bool:
    return component.kind_of(owner) == "nic"


def _without_ray(name: str) -> str:
    """Return vLLM's own name for what Ray's exporter renames."""
    for prefix in _RAY:
        if name.startswith(prefix):
            return "vllm:" + name.removeprefix(prefix)
    return name


def _rank(metric: Metric, kind: str, name: str) -> int:
    return [source.name for source in metric.sources[kind]].index(name)


def _first(labels: dict[str, str], *names: str) -> str:
    return next((labels[name] for name in names if labels.get(name)), "")
