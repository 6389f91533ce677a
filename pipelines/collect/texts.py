"""gNMI values as they are written: names, words, flags."""

import json
from collections.abc import Iterable, Iterator
from typing import Any, Final

from gnmi_pb import gnmi_pb2 as gnmi

from pipelines.collect.paths import Step, Steps, plain_name, steps_of

Texts = dict[Steps, str]
# What tells the entries of a list apart in JSON, which does not say; the first that is there.
_KEYS: Final = ("name", "id")
_JSON: Final = frozenset({"json_val", "json_ietf_val"})
_DEEPEST: Final = 40


def texts(notifications: Iterable[gnmi.Notification]) -> Texts:
    """Return the value of every leaf by its path; flags as ``true`` and ``false``.

    What is no JSON although it says so is left out.
    """
    found: Texts = {}
    for notification in notifications:
        for update in notification.update:
            found.update(_leaves(steps_of(notification.prefix, update.path), update.val))
    return found


def _leaves(steps: Steps, value: gnmi.TypedValue) -> Iterator[tuple[Steps, str]]:
    arm = value.WhichOneof("value")
    if arm is None:
        return
    raw = getattr(value, arm)
    if arm in _JSON:
        try:
            raw = json.loads(raw)
        except (ValueError, RecursionError):
            return
    yield from _flat(steps, raw)


def _flat(steps: Steps, value: Any, depth: int = 0) -> Iterator[tuple[Steps, str]]:
    if depth > _DEEPEST:
        return
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _flat((*steps, Step(plain_name(name))), inner, depth + 1)
    elif isinstance(value, list):
        for entry in value:
            yield from _flat(_keyed(steps, entry), entry, depth + 1)
    elif isinstance(value, bool):
        yield steps, str(value).lower()
    elif isinstance(value, str | int | float):
        yield steps, str(value)


def _keyed(steps: Steps, entry: Any) -> Steps:
    """Return the path of a list's entry, with its key on the last step."""
    if not steps or not isinstance(entry, dict):
        return steps
    plain = {plain_name(name): inner for name, inner in entry.items()}
    key = next((k for k in _KEYS if isinstance(plain.get(k), str | int)), None)
    if key is None:
        return steps
    return (*steps[:-1], Step(steps[-1].name, ((key, str(plain[key])),)))
