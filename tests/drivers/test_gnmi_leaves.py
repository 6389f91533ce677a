import json

import pytest
from gnmi_pb import gnmi_pb2

from pipelines.drivers.gnmi_leaves import leaves_of
from pipelines.drivers.gnmi_path import format_path, parse_path, plain_text, typed

POLICY = (
    "/network-instances/network-instance[name=default]/policy-forwarding/policies"
    "/policy[policy-id=trimtab]"
)
EXPECTED = {
    f"{POLICY}/config/policy-id": "trimtab",
    f"{POLICY}/rules/rule[sequence-id=7]/sequence-id": "7",
    f"{POLICY}/rules/rule[sequence-id=7]/config/sequence-id": "7",
    f"{POLICY}/rules/rule[sequence-id=7]/action/config/next-hop": "10.101.1.1",
}


def notification(*updates):
    return gnmi_pb2.Notification(
        update=[
            gnmi_pb2.Update(path=parse_path(path), val=gnmi_pb2.TypedValue(**value))
            for path, value in updates
        ]
    )


def test_tree_of_json_tells_the_same_leaves_as_single_updates():
    tree = {
        "openconfig-network-instance:config": {"policy-id": "trimtab"},
        "rules": {
            "rule": [
                {
                    "sequence-id": 7,
                    "config": {"sequence-id": 7},
                    "action": {"config": {"next-hop": "10.101.1.1"}},
                }
            ]
        },
    }
    told = notification((POLICY, {"json_ietf_val": json.dumps(tree).encode()}))
    single = notification(
        *((path, {"string_val": value}) for path, value in EXPECTED.items() if value != "7"),
        *((path, {"uint_val": 7}) for path, value in EXPECTED.items() if value == "7"),
    )
    assert dict(leaves_of(told)) == EXPECTED
    assert dict(leaves_of(single)) == EXPECTED


def test_entry_that_does_not_name_itself_is_left_out():
    tree = {"rules": {"rule": [{"config": {"sequence-id": 7}}, "odd"]}, "strange": [{"x": 1}]}
    told = notification((POLICY, {"json_val": json.dumps(tree).encode()}))
    assert dict(leaves_of(told)) == {}


def test_broken_json_tells_nothing():
    assert dict(leaves_of(notification((POLICY, {"json_ietf_val": b"{"})))) == {}


@pytest.mark.parametrize(
    "path", ["/a/b[name=x]/c", "/a/b[prefix=10.0.0.0/24]", "/a/b[name=odd\\]\\\\key]/c"]
)
def test_path_is_written_as_it_is_read(path):
    assert format_path(parse_path(path)) == path


@pytest.mark.parametrize(("value", "text"), [(True, "true"), (7, "7"), ("x", "x")])
@pytest.mark.parametrize("encoding", [gnmi_pb2.PROTO, gnmi_pb2.JSON, gnmi_pb2.JSON_IETF])
def test_value_comes_back_as_text_from_every_encoding(value, text, encoding):
    update = gnmi_pb2.Update(path=parse_path("/a"), val=typed(value, encoding))
    assert dict(leaves_of(gnmi_pb2.Notification(update=[update]))) == {"/a": text}


def test_structure_has_no_text():
    assert plain_text({"a": 1}) is None
