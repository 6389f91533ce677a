"""Names of what a cluster consists of: ``kind/name``."""

from typing import Final

KINDS: Final = frozenset(
    {
        "switch",
        "port",
        "link",
        "host",
        "nic",
        "gpu",
        "engine",
        "service",
        "pool",
        "job",
        "expert",
        "store",
        "target",
    }
)


def component(kind: str, name: str) -> str:
    """Return ``kind/name``.

    Raises
    ------
    ValueError
        The kind is not one of `KINDS`, or the name is empty.
    """
    if kind not in KINDS:
        raise ValueError(f"component kind is {kind!r}, not one of {sorted(KINDS)}")
    if not name:
        raise ValueError(f"{kind} has no name")
    return f"{kind}/{name}"


def kind_of(name: str) -> str:
    """Return the kind of a component: ``gpu`` for ``gpu/h1:GPU-3``."""
    return name.partition("/")[0]


def name_of(name: str) -> str:
    """Return the name of a component: ``h1:GPU-3`` for ``gpu/h1:GPU-3``."""
    return name.partition("/")[2]


def owner_of(name: str) -> str:
    """Return the switch or host that a part belongs to: ``h1`` for ``gpu/h1:GPU-3``.

    A link belongs to the end that names it, its lower one.
    """
    return name_of(name).partition(":")[0]


def port(switch: str, interface: str) -> str:
    return component("port", f"{switch}:{interface}")


def link(switch: str, interface: str) -> str:
    return component("link", f"{switch}:{interface}")


def gpu(host: str, uuid: str, instance: str = "") -> str:
    """Return a GPU's component; ``instance`` is its MIG instance id, empty for a whole card."""
    return component("gpu", f"{host}:{uuid}:{instance}" if instance else f"{host}:{uuid}")


def nic(host: str, device: str) -> str:
    return component("nic", f"{host}:{device}")


def pool(service: str, role: str) -> str:
    """Return the pool of a service's engines with one role, ``prefill`` or ``decode``."""
    return component("pool", f"{service}:{role}")
