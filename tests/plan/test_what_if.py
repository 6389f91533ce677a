import pytest

from pipelines.errors import ConfigError
from pipelines.plan.examples import EXAMPLES
from pipelines.plan.what_if import Change, WhatIf

WHAT_IF = WhatIf(EXAMPLES["leaf-spine-64"]().topology)


@pytest.mark.parametrize(
    "option",
    ["link/leaf2:Ethernet11", "port/leaf2:Ethernet11", "port/spine3:Ethernet2", "leaf2:Ethernet11"],
)
def test_a_link_is_named_by_itself_or_either_port(option):
    (change,) = WHAT_IF.without(option)
    assert change == Change(link="link/leaf2:Ethernet11", ratio=0.0, words=f"without {option}")


def test_without_a_spine_all_its_links_are_gone():
    changes = WHAT_IF.without("switch/spine3")
    assert [change.link for change in changes] == [f"link/leaf{n}:Ethernet11" for n in range(1, 9)]
    assert {(change.ratio, change.words) for change in changes} == {(0.0, "without switch/spine3")}


def test_a_link_may_keep_a_share():
    assert WHAT_IF.link("link/leaf1:Ethernet9=0.7") == Change(
        link="link/leaf1:Ethernet9",
        ratio=0.7,
        words="link/leaf1:Ethernet9 at 70% of its capacity",
    )


@pytest.mark.parametrize(
    ("option", "told"),
    [
        (
            "link/leaf1:Ethernet1",  # leads to a host
            "--without: no link between switches 'link/leaf1:Ethernet1', there are "
            "link/leaf1:Ethernet9, link/leaf1:Ethernet10, ",
        ),
        (
            "switch/leaf1",
            "--without: 'switch/leaf1' is a leaf, and its hosts would be cut off; above the leaves "
            "are switch/spine1, switch/spine2, ",
        ),
        ("switch/spine99", "--without: 'switch/spine99' is not in the topology; above the leaves"),
    ],
)
def test_what_cannot_be_taken_away_is_told(option, told):
    with pytest.raises(ConfigError) as error:
        WHAT_IF.without(option)
    assert str(error.value).startswith(told)


@pytest.mark.parametrize(
    "option", ["link/leaf1:Ethernet9", "link/leaf1:Ethernet9=", "link/leaf1:Ethernet9=1.5", "=0.5"]
)
def test_a_share_that_is_none_is_told(option):
    told = f"--link: is {option!r}, not LINK=RATIO with a ratio from 0 to 1"
    with pytest.raises(ConfigError) as error:
        WHAT_IF.link(option)
    assert str(error.value) == told
