"""A SetRequest's operations as new values of a switch's configuration."""

from collections.abc import Sequence
from typing import Any

from gnmi_pb import gnmi_pb2

from simulator.gnmi.config import LARGEST_WEIGHT, Enabled, Key, RuleHop, Value
from simulator.gnmi.errors import GnmiError, invalid, unimplemented
from simulator.gnmi.paths import Elem, Elems, covers, from_message, has_wildcard, to_text
from simulator.gnmi.plain import plain_value
from simulator.gnmi.tree import Leaf


def edits(request: gnmi_pb2.SetRequest, leaves: Sequence[Leaf]) -> dict[Key, Value]:
    """Return what a Set changes, in the order deletes, replaces, updates; None is the default.

    Raises
    ------
    GnmiError
        INVALID_ARGUMENT: a path does not exist, has wildcards or is read-only, or a value does
        not fit. UNIMPLEMENTED: union_replace.
    """
    if request.union_replace:
        raise unimplemented("union_replace is not supported")
    changed: dict[Key, Value] = {}
    for path in request.delete:
        changed |= dict.fromkeys(_below(from_message(request.prefix, path), leaves), None)
    for update in request.replace:
        path = from_message(request.prefix, update.path)
        if not _exact(path, leaves):
            changed |= dict.fromkeys(_below(path, leaves), None)
        changed |= _written(path, update.val, leaves)
    for update in request.update:
        changed |= _written(from_message(request.prefix, update.path), update.val, leaves)
    return changed


def _exact(path: Elems, leaves: Sequence[Leaf]) -> Leaf | None:
    return next((leaf for leaf in leaves if leaf.path == path), None)


def _below(path: Elems, leaves: Sequence[Leaf]) -> list[Key]:
    """Return what a delete or replace of a path resets; it must be a config container or leaf."""
    _check(path)
    if not any(element.name == "config" for element in path):
        raise invalid(f"{to_text(path)} is not configuration that can be removed")
    keys = [leaf.key for leaf in leaves if leaf.key is not None and covers(path, leaf.path)]
    if not keys:
        raise invalid(f"{to_text(path)} is not configuration that can be removed")
    return keys


def _check(path: Elems) -> None:
    if not path:
        raise invalid("the whole tree cannot be written")
    if has_wildcard(path):
        raise invalid(f"{to_text(path)} has wildcards")


def _written(path: Elems, value: gnmi_pb2.TypedValue, leaves: Sequence[Leaf]) -> dict[Key, Value]:
    _check(path)
    changed: dict[Key, Value] = {}
    for at, plain in _flat(path, plain_value(value, path)):
        leaf = _exact(at, leaves)
        if leaf is None:
            raise invalid(f"no such path: {to_text(at)}")
        if leaf.key is not None:
            changed[leaf.key] = _fitting(leaf.key, plain, at)
        elif plain != leaf.read():  # an entry's own key may be repeated
            raise invalid(f"{to_text(at)} is read-only")
    return changed


def _flat(path: Elems, value: Any) -> list[tuple[Elems, Any]]:
    if not isinstance(value, dict):
        return [(path, value)]
    return [
        pair
        for name, inner in value.items()
        for pair in _flat((*path, Elem(name.rpartition(":")[2])), inner)
    ]


def _fitting(key: Key, value: Any, path: Elems) -> Value:
    if isinstance(key, RuleHop):
        if value not in key.addresses:
            raise _misfit(path, value)
        return str(value)
    fits = isinstance(value, bool) if isinstance(key, Enabled) else _is_weight(value)
    if not fits:
        raise _misfit(path, value)
    return bool(value) if isinstance(key, Enabled) else int(value)


def _is_weight(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST_WEIGHT


def _misfit(path: Elems, value: Any) -> GnmiError:
    return invalid(f"{to_text(path)} cannot be {value!r}")
