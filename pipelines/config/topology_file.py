"""Writing a topology as people read it: one component a line."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from cluster.topology import Topology


def topology_toml(topology: Topology, *, heading: str) -> str:
    """Return a topology file's text; what is left at its default is left out.

    Read back it is the same topology.
    """
    told = topology.model_dump(mode="json", exclude_defaults=True)
    return "\n".join([f"# {heading}", *(line for key in told for line in _table(key, told[key]))])


def write_topology(path: Path, topology: Topology, *, heading: str) -> None:
    """Write the file whole or not at all.

    Raises
    ------
    OSError
        It cannot be written.
    """
    partial = path.with_name(f"{path.name}.partial")
    partial.write_text(topology_toml(topology, heading=heading))
    partial.replace(path)


def _table(key: str, entries: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield ""
    yield f"{key} = ["
    for entry in entries:
        yield f"    {_value(entry)},"
    yield "]"
    yield ""


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        inner = ", ".join(f"{key} = {_value(part)}" for key, part in value.items())
        return f"{{ {inner} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(_value(part) for part in value)}]"
    if isinstance(value, float):
        return _number(value)
    # TOML's basic strings, whole numbers and flags are written as JSON's are.
    return json.dumps(value, ensure_ascii=False)


def _number(value: float) -> str:
    """Return ``400e9`` for a rate in whole Gbit/s, so that zeros need not be counted."""
    billions = value / 1e9
    if value >= 1e9 and billions == int(billions):  # noqa: PLR2004 - a billion
        return f"{int(billions)}e9"
    return repr(value)
