"""Fabrics of network namespaces, where they can be made."""

import pytest

from simulator.linux.namespaces import why_not
from tests.forwarding.lab import running_lab


@pytest.fixture(scope="session", autouse=True)
def _namespaces():
    reason = why_not()
    if reason:
        pytest.skip(reason)


@pytest.fixture
def lab():
    """Two leaves, four spines, a host each."""
    with running_lab() as running:
        yield running
