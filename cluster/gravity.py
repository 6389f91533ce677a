"""Who sends how much to whom, estimated from port counters when no job has told."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cluster.arrays import summed
from cluster.fabric import Fabric
from cluster.flows import Flows

_ROUNDS = 200
_CLOSE = 1e-6
_NOTHING = 1.0

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A leaf-to-leaf matrix that fits the counters.

    Many matrices fit; of them this is the one that knows least beyond the counters (the gravity
    model: everybody sends to everybody in proportion). It is right where traffic is spread, as in
    an all-to-all, and wrong in detail where pairs matter, as in a ring: there the loads of links
    are still those measured, but not who causes them.

    Attributes
    ----------
    bits_per_second
        By (leaf of the source, leaf of the target), in the order of the fabric's leaves; zero
        on the diagonal, as what stays at a leaf passes no counter used here.
    misfit_ratio
        The largest difference from a counter, over the largest counter: 0.0 where all fit.
    """

    bits_per_second: Matrix
    misfit_ratio: float


def estimate(fabric: Fabric, load: Vector) -> Estimate:
    """Return the leaf-to-leaf matrix from the load of each directed link, bits per second.

    With two tiers every spine is told apart: what a leaf sent it, it sent on, so each has a
    matrix of its own. With three, leaves have their totals and pods what leaves and enters them.
    """
    leaves = np.flatnonzero(fabric.tier == 1)
    place = np.full(len(fabric.tier), -1)
    place[leaves] = np.arange(len(leaves))
    at_leaf = place[fabric.lower] >= 0
    up, down = load[0::2], load[1::2]
    if np.any(~at_leaf):
        fitted = _by_pod(fabric, place, up, down)
    else:
        fitted = np.zeros((len(leaves), len(leaves)))
        for spine in np.unique(fabric.upper):
            here = fabric.upper == spine
            outgoing, incoming = (
                summed(place[fabric.lower[here]], way[here], len(leaves)) for way in (up, down)
            )
            fitted += fit(outgoing, incoming)
    totals = [summed(place[fabric.lower[at_leaf]], way[at_leaf], len(leaves)) for way in (up, down)]
    return Estimate(bits_per_second=fitted, misfit_ratio=_misfit(fitted, *totals))


def fit(outgoing: Vector, incoming: Vector) -> Matrix:
    """Return the gravity matrix without a diagonal whose rows and columns sum as given.

    Where the sums of both differ, as counters read at two moments do, their mean holds.

    Examples
    --------
    >>> fit(np.array([3.0, 2.0, 2.0]), np.array([3.0, 2.0, 2.0])).round(3)
    array([[0. , 1.5, 1.5],
           [1.5, 0. , 0.5],
           [1.5, 0.5, 0. ]])

    References
    ----------
    W. E. Deming, F. F. Stephan, "On a least squares adjustment of a sampled frequency table when
    the expected marginal totals are known", Annals of Mathematical Statistics 11 (1940); Y. Zhang
    et al., "Fast accurate computation of large-scale IP traffic matrices from link loads",
    SIGMETRICS 2003.
    """
    outgoing, incoming = _same_total(outgoing, incoming)
    matrix = np.outer(outgoing, incoming)
    np.fill_diagonal(matrix, 0.0)
    for _ in range(_ROUNDS):
        _scale(matrix, outgoing, axis=1)
        _scale(matrix, incoming, axis=0)
        if _misfit(matrix, outgoing, incoming) <= _CLOSE:
            break
    return matrix


def flows_of(fabric: Fabric, matrix: Matrix) -> Flows:
    """Return a leaf-to-leaf matrix as flows, each pair's spread evenly over its leaves' NICs."""
    leaves = np.flatnonzero(fabric.tier == 1)
    order = np.argsort(fabric.endpoint_leaf, kind="stable")
    of_leaf = np.split(order, np.searchsorted(fabric.endpoint_leaf[order], leaves[1:]))
    columns: list[tuple[Vector, Vector, Vector]] = []
    for i, j in zip(*np.nonzero(matrix > _NOTHING), strict=True):
        here, there = of_leaf[i], of_leaf[j]
        wide = min(len(here), len(there))
        if wide and i != j:
            columns.append(
                (
                    here[(np.arange(wide) + j) % len(here)],
                    there[(np.arange(wide) + i) % len(there)],
                    np.full(wide, matrix[i, j] / wide),
                )
            )
    none = np.zeros(0)
    source, target, rate = (
        np.concatenate([column[k] for column in columns] or [none]) for k in range(3)
    )
    return Flows.of(source, target, rate, job=-1)


def _by_pod(fabric: Fabric, place: NDArray[np.int64], up: Vector, down: Vector) -> Matrix:
    """Fit leaves' totals, and what crosses each pod's border in either direction."""
    pods = _pods(fabric)
    leaf_pod = pods[fabric.tier == 1]
    at_leaf = fabric.tier[fabric.lower] == 1
    border = fabric.tier[fabric.lower] == 2  # noqa: PLR2004 - from a pod to the cores
    leaves = len(leaf_pod)
    outgoing, incoming = _same_total(
        summed(place[fabric.lower[at_leaf]], up[at_leaf], leaves),
        summed(place[fabric.lower[at_leaf]], down[at_leaf], leaves),
    )
    count = int(pods.max(initial=0)) + 1
    crossing = [summed(pods[fabric.lower[border]], way[border], count) for way in (up, down)]
    out_of, into = _same_total(*crossing)
    inside = leaf_pod[:, None] == leaf_pod[None, :]
    matrix = np.outer(outgoing, incoming)
    np.fill_diagonal(matrix, 0.0)
    for _ in range(_ROUNDS):
        for axis, totals, cross in ((1, outgoing, out_of), (0, incoming, into)):
            _scale(matrix, totals, axis=axis)
            _scale_pods(matrix, inside, leaf_pod, totals, cross, axis=axis)
        if _misfit(matrix, outgoing, incoming) <= _CLOSE:
            break
    return matrix


def _scale_pods(
    matrix: Matrix,
    inside: NDArray[np.bool_],
    leaf_pod: NDArray[np.int64],
    totals: Vector,
    crossing: Vector,
    *,
    axis: int,
) -> None:
    pods = len(crossing)
    kept = np.maximum(summed(leaf_pod, totals, pods) - crossing, 0.0)
    for part, wanted in ((inside, kept), (~inside, crossing)):
        sums = summed(leaf_pod, (matrix * part).sum(axis=axis), pods)
        factor = np.divide(wanted, sums, out=np.ones(pods), where=sums > 0.0)[leaf_pod]
        scale = factor[:, None] if axis == 1 else factor[None, :]
        np.multiply(matrix, scale, out=matrix, where=part)


def _pods(fabric: Fabric) -> NDArray[np.int64]:
    """Return each switch's pod, what tiers 1 and 2 hold together; tier 3 has numbers of its own."""
    label = np.arange(len(fabric.tier))
    inner = fabric.tier[fabric.upper] <= 2  # noqa: PLR2004 - tiers within a pod
    lower, upper = fabric.lower[inner], fabric.upper[inner]
    while True:
        before = label.copy()
        np.minimum.at(label, lower, label[upper])
        np.minimum.at(label, upper, label[lower])
        if np.array_equal(before, label):
            return np.unique(label, return_inverse=True)[1]


def _scale(matrix: Matrix, totals: Vector, *, axis: int) -> None:
    sums = matrix.sum(axis=axis)
    factor = np.divide(totals, sums, out=np.zeros(len(totals)), where=sums > 0.0)
    matrix *= factor[:, None] if axis == 1 else factor[None, :]


def _same_total(outgoing: Vector, incoming: Vector) -> Iterator[Vector]:
    mean = (outgoing.sum() + incoming.sum()) / 2.0
    for side in (outgoing, incoming):
        total = side.sum()
        yield side * (mean / total) if total > 0.0 else np.zeros(len(side))


def _misfit(matrix: Matrix, outgoing: Vector, incoming: Vector) -> float:
    largest = max(outgoing.max(initial=0.0), incoming.max(initial=0.0))
    if largest <= 0.0:
        return 0.0
    off = [
        np.abs(matrix.sum(axis=axis) - totals).max(initial=0.0)
        for axis, totals in ((1, outgoing), (0, incoming))
    ]
    return float(max(off) / largest)
