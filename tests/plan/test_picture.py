"""The picture is well-formed, says what it shows, and stays readable and small when large."""

import xml.etree.ElementTree as ET

import numpy as np

from cluster.fabric import Fabric, leaf_spine
from pipelines.plan.colours import colour, ink
from pipelines.plan.examples import EXAMPLES
from pipelines.plan.heat import rows_of
from pipelines.plan.picture import svg

LEGEND = "load, % of capacity"
NAMESPACE = {"svg": "http://www.w3.org/2000/svg"}


def drawn(fabric: Fabric, load: np.ndarray, whole: np.ndarray | None = None) -> ET.Element:
    rows = rows_of(
        fabric, fabric.capacity if whole is None else whole, {"before": load, "after": load / 2}
    )
    return ET.fromstring(
        svg(rows, title="A <title> & more", about=["of a test", "what if"], legend=LEGEND)
    )


def words(picture: ET.Element) -> list[str]:
    return [element.text or "" for element in picture.iterfind(".//svg:text", NAMESPACE)]


def test_names_directions_legend_and_unit_are_told():
    fabric = Fabric.of(EXAMPLES["leaf-spine-64"]().topology)
    told = words(drawn(fabric, fabric.capacity * 1.5))
    for word in (
        *(
            "A <title> & more",
            "of a test",
            "what if",
            "up: leaf to spine",
            "down: spine to leaf",
            "before",
            "after",
        ),
        *("leaf1", "leaf8", "spine1", "spine8", "link down"),
        *(LEGEND, "0 %", "100 %", "≥ 300 %"),
        *("highest 150 %, mean 150 %, 64 of 64 links over 100 %", "150", "75"),
    ):
        assert word in told


def test_a_dead_link_is_crossed_out_and_counts_as_none():
    fabric = leaf_spine(leaves=2, spines=2, endpoints=1)
    capacity = fabric.capacity.copy()
    capacity[0:2] = 0.0
    picture = drawn(fabric.with_capacity(capacity), np.full(8, 0.5), whole=fabric.capacity)
    # In each of four panels, and in the legend.
    assert len(picture.findall(".//svg:line", NAMESPACE)) == 4 + 1 + 1
    assert "highest 50 %, mean 50 %, 0 of 4 links over 100 %" in words(picture)


def test_a_third_tier_has_panels_of_its_own_with_numbered_uplinks():
    fabric = Fabric.of(EXAMPLES["three-tier-256"]().topology)
    told = words(drawn(fabric, fabric.capacity))
    for word in ("up: spine to core", "down: core to spine", "uplink 1", "uplink 4", "spine63"):
        assert word in told


def test_parallel_links_and_missing_ones_have_columns():
    fabric = leaf_spine(leaves=3, spines=2, endpoints=1, parallel=2)
    (up, _) = rows_of(fabric, fabric.capacity, {"now": fabric.capacity})
    (panel,) = up.panels
    assert panel.columns == ("spine1", "spine1", "spine2", "spine2")
    assert panel.percent.tolist() == [[100.0] * 4] * 3


def test_a_large_fabric_is_folded_and_its_worst_links_stay():
    fabric = leaf_spine(leaves=512, spines=64, endpoints=1)
    load = np.zeros(fabric.links)
    load[2 * (64 * 300 + 5)] = 2.0
    picture = drawn(fabric, load)
    told = words(picture)
    note = "highest 200 %, mean 0 %, 1 of 32,768 links over 100 %"
    assert f"{note}; a line is the worst of 4 switches" in told
    assert len(ET.tostring(picture)) < 300_000
    assert any(r.get("fill") == colour(200.0) for r in picture.iterfind(".//svg:rect", NAMESPACE))


def lightness(percent: float) -> float:
    red, green, blue = (int(colour(percent)[n : n + 2], 16) for n in (1, 3, 5))
    return 0.299 * red + 0.587 * green + 0.114 * blue


def test_colours_darken_up_to_capacity_and_again_beyond_it():
    within = [lightness(p) for p in (0, 25, 50, 75, 100)]
    beyond = [lightness(p) for p in (105, 150, 200, 300)]
    assert within == sorted(within, reverse=True)
    assert beyond == sorted(beyond, reverse=True)
    # Where hue is not seen, the step at capacity still is.
    assert beyond[0] - within[-1] > 80
    assert colour(100.0) == colour(100.4) != colour(101.0)
    assert colour(5000.0) == colour(300.0)


def test_numbers_stand_out_from_every_colour():
    for percent in np.linspace(0.0, 400.0, 161):
        own = int(ink(percent)[1:3], 16)
        assert abs(own - lightness(percent)) > 70
