"""The least that the busiest link must carry when flows may split: a linear program."""

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_matrix

from cluster.fabric import Fabric
from cluster.flows import Flows


def least_busiest(fabric: Fabric, flows: Flows) -> float:
    """Return the least highest load over capacity, with every path up and down again allowed.

    Variables are the level t and, by flow and path, what the path carries.
    """
    rows, columns, values = [], [], []
    wanted_rows, wanted_columns = [], []
    count = 1
    for n in range(len(flows)):
        for path in _paths(fabric, *fabric.endpoint_leaf[[flows.source[n], flows.target[n]]]):
            wanted_rows.append(n)
            wanted_columns.append(count)
            rows += path
            columns += [count] * len(path)
            values += [1.0] * len(path)
            count += 1
    links = np.arange(fabric.links)
    load = coo_matrix(
        (
            np.concatenate((values, -fabric.capacity)),
            (np.concatenate((rows, links)), np.concatenate((columns, 0 * links))),
        ),
        shape=(fabric.links, count),
    )
    whole = coo_matrix(
        (np.ones(len(wanted_rows)), (wanted_rows, wanted_columns)), shape=(len(flows), count)
    )
    found = linprog(
        np.eye(1, count)[0],
        A_ub=load,
        b_ub=np.zeros(fabric.links),
        A_eq=whole,
        b_eq=flows.bits_per_second,
        method="highs",
    )
    assert found.status == 0, found.message
    return float(found.fun)


def _paths(fabric: Fabric, tail: int, head: int) -> list[list[int]]:
    """Return all shortest paths over working links, as directed links."""
    if tail == head:
        return [[]]
    ways = [(tail, head, [], [])]
    for _ in range(int(fabric.tier.max()) - 1):
        ways = [way for one in ways for way in _one_tier_up(fabric, *one)]
        done = [up + down for a, b, up, down in ways if a == b]
        if done:
            return done
    return []


def _one_tier_up(fabric, tail, head, up, down):
    for a in np.flatnonzero((fabric.lower == tail) & (fabric.capacity[0::2] > 0.0)):
        for b in np.flatnonzero((fabric.lower == head) & (fabric.capacity[1::2] > 0.0)):
            yield fabric.upper[a], fabric.upper[b], [*up, 2 * a], [2 * b + 1, *down]
