"""The fixed rules of the source-port classes: one a class, prefix and protocol."""

from collections.abc import Iterator, Mapping, Sequence

from actuators.records import Change
from actuators.steering import paths
from actuators.steering.change_set import ABSENT, ChangeSet, ordered
from actuators.steering.classes import PortClasses
from actuators.steering.plan import policy_changes
from actuators.steering.rules import Match, Rule
from actuators.steering.site import Site

FIRST_NUMBER = 20_000
"""Flows' own rules are numbered below, so they go before the classes'."""


def class_rules(
    site: Site, classes: PortClasses, *, protocols: Sequence[str] = ("udp",)
) -> list[Rule]:
    """Return the rules that pin each class to its uplink, for what is sent to the site's routes.

    What is sent to hosts of the same switch is matched by none. An uplink that is down has no
    rule: its class is hashed.

    Raises
    ------
    ValueError
        The site has no routes, or an uplink's class does not exist.
    """
    if not site.routes:
        raise ValueError(f"{site.target} has no routes to make rules for")
    prefixes = sorted({route.prefix for route in site.routes})
    combined = [(prefix, protocol) for prefix in prefixes for protocol in protocols]
    rules = []
    for uplink in site.uplinks:
        if uplink.port_class is None or not uplink.is_up:
            continue
        lower, upper = classes.bounds(uplink.port_class)
        for n, (prefix, protocol) in enumerate(combined):
            match = Match(target=prefix, protocol=protocol, source_ports=f"{lower}..{upper}")
            number = FIRST_NUMBER + uplink.port_class * len(combined) + n
            rules.append(Rule(sequence_id=number, match=match, next_hop=uplink.next_hop))
    return rules


def install_classes(
    site: Site,
    classes: PortClasses,
    *,
    present: Mapping[int, Rule],
    protocols: Sequence[str] = ("udp",),
) -> ChangeSet:
    """Return the changes that give a switch the classes' rules, and no others of their kind.

    ``present`` are the rules of our policy that the switch has, by number.
    """
    wanted = {rule.sequence_id: rule for rule in class_rules(site, classes, protocols=protocols)}
    found = {number: rule for number, rule in present.items() if number >= FIRST_NUMBER}
    changes = list(_changes(site, found, wanted))
    if changes and wanted and not site.is_ready:
        changes += policy_changes(site)
    return ChangeSet(steps=ordered(changes))


def _changes(site: Site, found: Mapping[int, Rule], wanted: Mapping[int, Rule]) -> Iterator[Change]:
    for number in sorted({*found, *wanted}):
        old, new = found.get(number), wanted.get(number)
        if old != new:
            yield Change(
                target=site.target,
                path=paths.rule_path(number, site.instance),
                from_value=ABSENT if old is None else old.text(),
                to_value=ABSENT if new is None else new.text(),
            )
