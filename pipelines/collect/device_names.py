"""What a leaf of a network device is to us: component, canonical name, attributes."""

import re
from collections.abc import Iterable, Iterator
from sys import intern
from typing import Final, NamedTuple

from cluster import catalogue, component
from cluster.frame import SeriesKey, format_attributes
from pipelines.collect.paths import Steps, schema_path

_INTERFACE_KEYS: Final = frozenset({"name", "interface-id", "id", "interface_name"})
# Names that components of a chassis have in common with its ports: optics are their port's.
_PORT_NAME: Final = re.compile(
    r"(Ethernet|Eth|et-|xe-|ge-|ethernet-|[A-Z][A-Za-z]*Gig[A-Za-z]*)\d+([/:._-]\d+)*"
)
_TRANSCEIVER: Final = re.compile(r"^transceiver-|[-_ ]transceiver$", re.IGNORECASE)
_SONIC_PORT: Final = re.compile(r"((?:Ethernet|PortChannel)\d+|oid:0x[0-9a-f]+)(?::(\d+))?")
# What the field's own name says already.
_SONIC_VIEWS: Final = frozenset({"COUNTERS", "COUNTERS_DB", "STATE_DB", "RATES", "Queues", "Pfcwd"})
_STATES: Final = ("/oper-status", "/admin-status", "/oper-state", "/admin-state")


class Place(NamedTuple):
    """A series, the factor to our unit, and whether words are states of it (UP is 1, else 0)."""

    key: SeriesKey
    scale: float = 1.0
    is_state: bool = False


def place_of(switch: str, steps: Steps) -> Place:
    """Return what a leaf is; ``switch`` is the name of the device."""
    return _sonic(switch, steps) or place_of_keys(switch, schema_path(steps), _keys(steps))


def place_of_keys(switch: str, path: str, keys: Iterable[tuple[str, str, str]]) -> Place:
    """Return what a leaf is by its path without keys, and by its keys: element, key, value."""
    named = catalogue.by_source("openconfig").get(path)
    owner, attributes = _owner(switch, keys)
    is_state = path.endswith(_STATES)
    if named is None:
        return Place(SeriesKey(owner, path, attributes), is_state=is_state)
    return Place(SeriesKey(owner, named.metric.name, attributes), named.scale, is_state)


def _owner(switch: str, keys: Iterable[tuple[str, str, str]]) -> tuple[str, str]:
    """Return the component that keys name, and what else they say as attributes."""
    port = ""
    attributes: dict[str, str] = {}
    for name, key, value in keys:
        if name == "interface" and key in _INTERFACE_KEYS and not port:
            port = value
        elif name == "component" and key == "name" and not port and _is_port_name(value):
            port = _TRANSCEIVER.sub("", value)
        else:
            attribute = name if key == "name" else f"{name}_{key}"
            attributes[f"{attribute}_2" if attribute in attributes else attribute] = value
    owner = intern(component.port(switch, port) if port else f"switch/{switch}")
    return owner, format_attributes(attributes)


def _keys(steps: Steps) -> Iterator[tuple[str, str, str]]:
    for step in steps:
        for key, value in step.keys:
            yield step.name, key, value


def _is_port_name(name: str) -> bool:
    return _PORT_NAME.fullmatch(_TRANSCEIVER.sub("", name)) is not None


def _sonic(switch: str, steps: Steps) -> Place | None:
    """Return the place of a field in SONiC's database: table, port, field; else None."""
    if len(steps) < 2 or any(step.keys for step in steps):  # noqa: PLR2004 - port and field
        return None
    *outer, field = [step.name for step in steps]
    words = [word for name in outer for word in _table_words(name)]
    found = [match for word in words if (match := _SONIC_PORT.fullmatch(word))]
    if not found:
        return None
    port, queue = found[-1].groups()
    tables = [word for word in words if not _SONIC_PORT.fullmatch(word) and _is_table(word)]
    attributes = format_attributes({"queue": queue or "", "table": "/".join(tables)})
    named = catalogue.by_source("sonic").get(field)
    if named is None:
        return Place(SeriesKey(component.port(switch, port), field, attributes))
    key = SeriesKey(component.port(switch, port), named.metric.name, attributes)
    return Place(key, named.scale)


def _is_table(word: str) -> bool:
    return word not in _SONIC_VIEWS and "*" not in word


def _table_words(name: str) -> list[str]:
    """Return table and key of ``RATES:oid:0x1`` or ``PORT_OPERR_TABLE|Ethernet0``."""
    table, bar, key = name.partition("|")
    if bar:
        return [table, key]
    table, colon, key = name.partition(":")
    return [table, key] if colon and _SONIC_PORT.fullmatch(key) else [name]
