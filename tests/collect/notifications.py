"""Recorded notifications as the tests write them: protojson, one response a line."""

import json
from pathlib import Path

from gnmi_pb import gnmi_pb2 as gnmi
from google.protobuf import json_format

from pipelines.collect.decode import NotificationDecoder

CASES = Path(__file__).parent / "cases"


def responses(text: str) -> list[gnmi.SubscribeResponse]:
    return [
        json_format.ParseDict(json.loads(line), gnmi.SubscribeResponse())
        for line in text.splitlines()
        if line.strip()
    ]


def decoded(text: str, switch: str = "leaf1") -> dict[str, object]:
    """Return what the notifications said, one entry each, in the form of ``expected.json``."""
    decoder = NotificationDecoder(switch)
    told = []
    for response in responses(text):
        found = decoder.decode(response.update)
        entry: dict[str, object] = {
            "time_ns": found.time_ns,
            "readings": [[*key, value] for key, value in found.readings],
        }
        if found.ended:
            entry["ended"] = [list(key) for key in found.ended]
        if found.refused:
            entry["refused"] = dict(found.refused)
        if found.coalesced:
            entry["coalesced"] = found.coalesced
        told.append(entry)
    return {"notifications": told}
