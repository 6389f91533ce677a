"""gNMI values as numbers; what is none has a reason."""

import base64
import json
import re
import struct
from collections.abc import Callable, Iterator
from math import inf
from typing import Any, Final, NamedTuple

from gnmi_pb import gnmi_pb2 as gnmi

from pipelines.collect.checked import NOT_NUMERIC
from pipelines.collect.paths import Step, Steps, plain_name

NO_VALUE: Final = "no_value"
BAD_JSON: Final = "bad_json"

_NUMBER: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
# Leaves of physical quantities are sent by some devices as the four bytes of an IEEE float32.
_QUANTITY: Final = re.compile(r"current|voltage|power|temperature|bias|dbm|capacity", re.IGNORECASE)
_BASE64_FLOAT: Final = re.compile(r"[A-Za-z0-9+/]{6}==")
# What tells the entries of a list apart in JSON, which does not say; the first that is there.
_LIST_KEYS: Final = ("name", "index", "id", "interface-id", "identifier", "sequence-id", "prefix")
_DEEPEST: Final = 40
_MOST_DIGITS: Final = 100


class Leaf(NamedTuple):
    """A value below the update's path: a number or a word; or the reason why it is neither."""

    below: Steps
    value: float | str
    refused: str = ""


def leaves(update: gnmi.Update, leaf_name: str) -> Iterator[Leaf]:
    """Yield what an update says; ``leaf_name`` is the last element of its path."""
    arm = update.val.WhichOneof("value")
    if arm is None:
        yield from _old_value(update, leaf_name)
        return
    value = getattr(update.val, arm)
    read = _ARMS.get(arm)
    if read is None:
        yield Leaf((), "", arm.removesuffix("_val"))
    else:
        yield from read(value, leaf_name)


def flatten(value: Any, leaf_name: str, below: Steps = ()) -> Iterator[Leaf]:
    """Yield the leaves of a JSON value with their places in it."""
    if len(below) > _DEEPEST:
        yield Leaf(below, "", "too_deep")
    elif isinstance(value, dict):
        for name, inner in value.items():
            plain = plain_name(name)
            yield from flatten(inner, plain, (*below, Step(plain)))
    elif isinstance(value, list):
        yield from _entries(value, leaf_name, below)
    elif isinstance(value, bool | int | float):
        yield Leaf(below, _finite_or_not(value))
    elif isinstance(value, str):
        yield _text(value, leaf_name, below)
    else:
        yield Leaf(below, "", NO_VALUE)


def _entries(entries: list[Any], leaf_name: str, below: Steps) -> Iterator[Leaf]:
    if not below and entries and not isinstance(entries[0], dict):
        yield Leaf(below, "", "leaf_list")
        return
    for place, entry in enumerate(entries):
        if not isinstance(entry, dict):
            yield Leaf(below, "", "leaf_list")
            return
        key = next((k for k in _LIST_KEYS if isinstance(entry.get(k), str | int)), None)
        named = ("index", str(place)) if key is None else (key, str(entry[key]))
        outer = below[:-1] if below else ()
        step = below[-1] if below else Step("")
        rest = {name: inner for name, inner in entry.items() if name != key}
        yield from flatten(rest, leaf_name, (*outer, Step(step.name, (*step.keys, named))))


def _text(value: str, leaf_name: str, below: Steps = ()) -> Leaf:
    """Return a text as a number where it is one: JSON has 64-bit integers so, SONiC all of them."""
    if _NUMBER.fullmatch(value):
        return Leaf(below, float(value))
    if _QUANTITY.search(leaf_name) and _BASE64_FLOAT.fullmatch(value):
        return Leaf(below, _float32(base64.b64decode(value)))
    return Leaf(below, value, NOT_NUMERIC)


def _bytes(value: bytes, leaf_name: str) -> Iterator[Leaf]:
    if len(value) == 4 and _QUANTITY.search(leaf_name):  # noqa: PLR2004 - a float32's size
        yield Leaf((), _float32(value))
    else:
        yield Leaf((), "", "bytes")


def _float32(value: bytes) -> float:
    return float(struct.unpack(">f", value)[0])


def _json(value: bytes, leaf_name: str) -> Iterator[Leaf]:
    if not value:
        yield Leaf((), "", NO_VALUE)
        return
    try:
        parsed = json.loads(value)
    except (ValueError, RecursionError):
        yield Leaf((), "", BAD_JSON)
        return
    if parsed is None or parsed in ({}, []):
        yield Leaf((), "", NO_VALUE)
    else:
        yield from flatten(parsed, leaf_name)


def _leaf_list(value: gnmi.ScalarArray, leaf_name: str) -> Iterator[Leaf]:
    if len(value.element) == 1:
        yield from leaves(gnmi.Update(val=value.element[0]), leaf_name)
    else:
        yield Leaf((), "", "leaf_list")


def _old_value(update: gnmi.Update, leaf_name: str) -> Iterator[Leaf]:
    """Read the value's form before gNMI 0.4, which some devices still send."""
    if update.HasField("value") and update.value.type in (gnmi.JSON, gnmi.JSON_IETF):
        yield from _json(update.value.value, leaf_name)
    else:
        yield Leaf((), "", NO_VALUE)


def _finite_or_not(value: float) -> float:
    """Return a number of JSON, whose integers have no limit."""
    try:
        return float(value)
    except OverflowError:
        return inf if value > 0 else -inf


def _decimal(value: gnmi.Decimal64, _: str) -> Iterator[Leaf]:
    # No more than 18 are allowed; a power of the largest that fits the field would never end.
    if value.precision > _MOST_DIGITS:
        yield Leaf((), "", "bad_decimal")
    else:
        yield Leaf((), value.digits / 10**value.precision)


def _number(value: float, _: str) -> Iterator[Leaf]:
    yield Leaf((), float(value))


_ARMS: Final[dict[str, Callable[[Any, str], Iterator[Leaf]]]] = {
    "int_val": _number,
    "uint_val": _number,
    "bool_val": _number,
    "float_val": _number,
    "double_val": _number,
    "decimal_val": _decimal,
    "string_val": lambda value, name: iter([_text(value, name)]),
    "ascii_val": lambda value, name: iter([_text(value.strip(), name)]),
    "bytes_val": _bytes,
    "json_val": _json,
    "json_ietf_val": _json,
    "leaflist_val": _leaf_list,
}
