"""A folder per recorded case: ``claim.txt``, ``input.jsonl``, ``expected.json``."""

import json

import pytest
from gnmi_pb import gnmi_pb2 as gnmi

from pipelines.collect.decode import NotificationDecoder
from pipelines.collect.paths import parse_path, steps_of
from pipelines.errors import DecodeError
from tests.collect.notifications import CASES, decoded, responses
from tests.paths import data_path


@pytest.mark.parametrize("case", sorted(CASES.iterdir()), ids=lambda case: case.name)
def test_case_decodes_as_recorded(case):
    """C04 to C09, C12: each folder's claim tells which."""
    expected = json.loads((case / "expected.json").read_text())
    assert decoded((case / "input.jsonl").read_text()) == expected


def test_paths_are_bounded_and_the_ones_in_use_stay_understood():
    """C16: a thousand names that come and go cost no memory in the end."""
    decoder = NotificationDecoder("leaf1", paths_kept=10)
    for number in range(1000):
        update = gnmi.Update(
            path=parse_path(
                f"/interfaces/interface[name=Ethernet{number}]/state/counters/in-octets"
            ),
            val=gnmi.TypedValue(uint_val=1),
        )
        decoder.decode(gnmi.Notification(timestamp=1, update=[update]))
    assert len(decoder._paths) + len(decoder._older) <= 22


def test_path_is_read_as_people_write_it():
    path = parse_path(r"openconfig:/a/b[k=x/y][l=\]z]/c")
    assert path.origin == "openconfig"
    assert [(elem.name, dict(elem.key)) for elem in path.elem] == [
        ("a", {}),
        ("b", {"k": "x/y", "l": "]z"}),
        ("c", {}),
    ]
    with pytest.raises(DecodeError):
        parse_path("/a/[k=v]")


def test_path_of_the_form_before_gnmi_0_4_is_the_same_path():
    old = gnmi.Path(element=["interfaces", "interface[name=Ethernet1]", "state"])
    assert steps_of(old) == steps_of(parse_path("/interfaces/interface[name=Ethernet1]/state"))


def test_every_leaf_of_the_recorded_notifications_is_a_reading_or_has_a_reason():
    """Notifications of seven vendors: nothing raises, nothing vanishes."""
    found = {}
    for path in sorted(data_path("samples/gnmi").glob("*.jsonl")):
        if path.name == "gnmic_events.jsonl":
            continue
        decoder = NotificationDecoder("device")
        totals = [0, 0, 0]
        for response in responses(path.read_text()):
            told = decoder.decode(response.update)
            totals[0] += len(response.update.update)
            totals[1] += len(told.readings)
            totals[2] += told.refused.total() - told.refused["empty_notification"]
        found[path.name] = tuple(totals)
    for name, (updates, readings, refused) in found.items():
        # JSON has many leaves in one update; elsewhere each update is exactly one of the two.
        assert readings + refused >= updates, name
    assert found["telegraf_issue_14530.jsonl"] == (15, 15, 0)
