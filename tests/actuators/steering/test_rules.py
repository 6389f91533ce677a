import pytest

from actuators.steering.classes import PortClasses
from actuators.steering.rules import Match, Rule, rule_of_leaves, rule_of_text

RULE = Rule(
    sequence_id=7,
    match=Match(
        source="10.1.0.3/32",
        target="10.2.0.3/32",
        protocol="udp",
        source_ports="49152..50175",
        target_ports="4791",
    ),
    next_hop="10.101.1.1",
)
TEXT = (
    "from 10.1.0.3/32 to 10.2.0.3/32 protocol udp source-port 49152..50175"
    " destination-port 4791 via 10.101.1.1"
)


def test_rule_is_read_as_it_is_written():
    assert RULE.text() == TEXT
    assert rule_of_text(7, TEXT) == RULE


def test_rule_has_openconfigs_leaves():
    assert RULE.leaves() == {
        "config/sequence-id": 7,
        "ipv4/config/source-address": "10.1.0.3/32",
        "ipv4/config/destination-address": "10.2.0.3/32",
        "ipv4/config/protocol": "IP_UDP",
        "transport/config/source-port": "49152..50175",
        "transport/config/destination-port": "4791",
        "action/config/next-hop": "10.101.1.1",
    }


@pytest.mark.parametrize("protocol", ["IP_UDP", "openconfig-packet-match-types:IP_UDP", "17"])
def test_rule_is_known_by_a_switchs_leaves(protocol):
    told = {leaf: str(value) for leaf, value in RULE.leaves().items()}
    told |= {"ipv4/config/protocol": protocol, "state/matched-pkts": "5", "sequence-id": "7"}
    assert rule_of_leaves(told) == RULE


def test_rule_that_does_more_than_we_can_say_is_refused():
    told = {leaf: str(value) for leaf, value in RULE.leaves().items()}
    with pytest.raises(ValueError, match="action/config/discard"):
        rule_of_leaves(told | {"action/config/discard": "true"})


@pytest.mark.parametrize("text", ["", "from 10.1.0.3/32", "whatever x via 1.2.3.4", "via"])
def test_malformed_text_is_refused(text):
    with pytest.raises(ValueError, match="rule 7"):
        rule_of_text(7, text)


@pytest.mark.parametrize(
    ("match", "why"),
    [
        ({}, "every packet"),
        ({"protocol": "sctp"}, "sctp"),
        ({"protocol": "udp", "source_ports": "9..8"}, "9..8"),
        ({"protocol": "udp", "source_ports": "1..65536"}, "65536"),
        ({"protocol": "udp", "target_ports": "x"}, "x"),
    ],
)
def test_impossible_match_is_refused(match, why):
    with pytest.raises(ValueError, match=why):
        Match(**match)


def test_port_is_of_the_class_whose_bounds_hold_it():
    classes = PortClasses()
    assert [classes.bounds(k) for k in (0, 15)] == [(49152, 50175), (64512, 65535)]
    assert [classes.class_of(p) for p in (49151, 49152, 50175, 50176, 65535)] == [None, 0, 0, 1, 15]
    assert [classes.port(1, slot) for slot in (0, 1023, 1024)] == [50176, 51199, 50176]


@pytest.mark.parametrize(
    "numbers", [{"count": 17}, {"size": 0}, {"first_port": 0}, {"first_port": 60000}]
)
def test_classes_beyond_the_ports_there_are_are_refused(numbers):
    with pytest.raises(ValueError, match="port classes"):
        PortClasses(**numbers)


def test_class_there_is_none_of_is_refused():
    with pytest.raises(ValueError, match="port class is 16"):
        PortClasses().bounds(16)
