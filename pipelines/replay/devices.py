"""Recorded telemetry of network devices in JSON, decoded as live collection decodes it."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from gnmi_pb import gnmi_pb2 as gnmi
from google.protobuf import json_format

from cluster.frame import SeriesKey
from pipelines.collect.checked import NOT_NUMERIC
from pipelines.collect.decode import NotificationDecoder, take_leaf
from pipelines.collect.device_names import Place, place_of, place_of_keys
from pipelines.collect.paths import Step, Steps, parse_path, plain_name, steps_of
from pipelines.collect.values import flatten
from pipelines.errors import DecodeError
from pipelines.replay.batch import Batch

_NOT_IDENTITY: Final = frozenset({"source", "subscription-name", "target"})
_SONIC_PORT: Final = re.compile(r"(ethernet|portchannel)(\d+)", re.IGNORECASE)
_OBJECT: Final = "is not a JSON object of this form"


def read_responses(path: Path, documents: list[Any]) -> Iterator[Batch]:
    """Yield a batch for each gNMI SubscribeResponse (protojson) with a notification."""
    switch = path.name.partition(".")[0]
    decoder = NotificationDecoder(switch)
    for document in documents:
        batch = Batch(source=f"switch/{switch}", group="gnmi", time_ns=0)
        try:
            response = json_format.ParseDict(
                document, gnmi.SubscribeResponse(), ignore_unknown_fields=True
            )
        except (json_format.ParseError, TypeError, AttributeError):
            batch.refuse("not_a_notification", json.dumps(document))
        else:
            if not response.HasField("update"):
                continue
            decoded = decoder.decode(response.update)
            batch.time_ns, batch.readings = decoded.time_ns, decoded.readings
            batch.ended = decoded.ended
            for reason, count in decoded.refused.items():
                batch.refuse(reason, json.dumps(document), count)
        yield batch


def read_events(_: Path, documents: list[Any]) -> Iterator[Batch]:
    """Yield a batch for each gNMIc ``event``: name, timestamp, tags, values, deletes."""
    for document in documents:
        yield from _read_all(document, _event)


def read_gnmic(_: Path, documents: list[Any]) -> Iterator[Batch]:
    """Yield a batch for each message of gNMIc's ``json`` format: prefix, updates with values."""
    for document in documents:
        yield from _read_all(document, _gnmic_message)


def read_sonic(path: Path, documents: list[Any]) -> Iterator[Batch]:
    """Yield what blobs of SONiC's database say; port names replace object ids where a map tells."""
    switch = path.name.partition(".")[0]
    for document in documents:
        batch = Batch(source=f"switch/{switch}", group="sonic", time_ns=0)
        names = _names_by_id(document)
        start: Steps = ()
        if not any(isinstance(value, dict) for value in document.values()):
            found = _SONIC_PORT.search(path.name)
            start = (Step(f"{found[1].capitalize()}{found[2]}" if found else path.stem),)
        values: dict[SeriesKey, float] = {}
        for leaf in flatten(document, ""):
            steps = (*start, *(_renamed(step, names) for step in leaf.below))
            reason = take_leaf(place_of(switch, steps), leaf, values)
            if reason:
                batch.refuse(reason, f"{'/'.join(s.name for s in steps)}={leaf.value}")
        batch.readings = list(values.items())
        yield batch


def _read_all(document: Any, read: Callable[[dict[str, Any]], Batch]) -> Iterator[Batch]:
    """Read an object, or each of an array; what is of another form is refused."""
    for one in document if isinstance(document, list) else [document]:
        try:
            yield read(one)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            batch = Batch(source="switch/unknown", group="gnmi", time_ns=0)
            detail = str(error) if isinstance(error, DecodeError) else _OBJECT
            batch.refuse("not_an_event", f"{detail}: {json.dumps(one)}")
            yield batch


def _event(event: dict[str, Any]) -> Batch:
    tags: dict[str, str] = {k: str(v) for k, v in event.get("tags", {}).items()}
    switch = _host(tags.get("source", "unknown"))
    batch = Batch(
        source=f"switch/{switch}",
        group=tags.get("subscription-name", event.get("name", "")),
        time_ns=int(event["timestamp"]),
    )
    values: dict[SeriesKey, float] = {}
    for written, value in event.get("values", {}).items():
        path = _schema(written)
        place = place_of_keys(switch, path, _keys_of_tags(path, tags))
        _add(batch, values, place, value, written)
    batch.readings = list(values.items())
    if event.get("deletes"):
        batch.refuse("event_delete", json.dumps(event["deletes"]), len(event["deletes"]))
    return batch


def _gnmic_message(message: dict[str, Any]) -> Batch:
    switch = _host(message.get("source", "unknown"))
    batch = Batch(
        source=f"switch/{switch}",
        group=message.get("subscription-name", ""),
        time_ns=int(message["timestamp"]),
    )
    values: dict[SeriesKey, float] = {}
    prefix = parse_path(message.get("prefix", ""))
    for update in message["updates"]:
        steps = steps_of(prefix, parse_path(update["Path"]))
        # There is one value; its name repeats the path.
        for written, value in update["values"].items():
            _add(batch, values, place_of(switch, steps), value, written)
    batch.readings = list(values.items())
    return batch


def _add(
    batch: Batch, values: dict[SeriesKey, float], place: Place, value: Any, written: str
) -> None:
    """Put a value in its place; a JSON value with members has names of its own below it."""
    for leaf in flatten(value, written.rpartition("/")[2]):
        if leaf.below:
            batch.refuse("nested_value", f"{written}={json.dumps(value)}")
            continue
        reason = take_leaf(place, leaf, values)
        if reason:
            batch.refuse(reason, f"{written}={value}")
    if value in ("", {}, []):
        batch.refuse(NOT_NUMERIC if value == "" else "no_value", f"{written}={value}")


def _schema(written: str) -> str:
    """Return an event's value name as a path without modules; other names stay as they are."""
    if "/" not in written:
        return written
    return "/" + "/".join(plain_name(name) for name in written.split("/") if name)


def _keys_of_tags(path: str, tags: dict[str, str]) -> Iterator[tuple[str, str, str]]:
    """Yield the keys that tags say, ``interface_name`` for ``interface[name=]``."""
    names = set(path.split("/"))
    for tag, value in tags.items():
        if tag in _NOT_IDENTITY or tag.startswith("/") or "_" not in tag:
            continue
        cuts = [place for place, letter in enumerate(tag) if letter == "_"]
        fitting = next((cut for cut in cuts if tag[:cut] in names), cuts[0])
        yield tag[:fitting], tag[fitting + 1 :], value


def _host(address: str) -> str:
    host, colon, port = address.rpartition(":")
    return host if colon and port.isdigit() else address


def _names_by_id(document: dict[str, Any]) -> dict[str, str]:
    """Return port names by object id, out of every map from names to ids in the document."""
    maps = [document, *(value for value in document.values() if isinstance(value, dict))]
    return {
        str(value): name
        for names in maps
        for name, value in names.items()
        if isinstance(value, str) and value.startswith("oid:") and name.startswith("Ethernet")
    }


def _renamed(step: Step, names: dict[str, str]) -> Step:
    table, _, object_id = step.name.partition(":")
    if object_id in names:
        return Step(f"{table}|{names[object_id]}")
    return step
