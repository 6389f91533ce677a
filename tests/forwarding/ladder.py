"""Leaves that can do less."""

from dataclasses import replace

from actuators.steering.capability import Capability, Rung
from actuators.steering.plan import Means


def _with(lab, *rungs, avoided=""):
    means = lab.means()
    sites = {
        leaf: replace(
            site,
            uplinks=tuple(
                replace(uplink, is_avoided=uplink.interface == avoided) for uplink in site.uplinks
            ),
        )
        for leaf, site in means.sites.items()
    }
    capabilities = {
        target: Capability(target=target, rungs=frozenset({*rungs, Rung.ADVICE}))
        for target in means.capabilities
    }
    return Means(sites=sites, capabilities=capabilities)


def weights_only(lab):
    return _with(lab, Rung.WEIGHTS)


def draining(lab, interface):
    """Return leaves that can be drained only, and an uplink that is to carry nothing."""
    return _with(lab, Rung.DRAIN, avoided=interface)
