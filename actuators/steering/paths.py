"""What is written of a steered switch or job, by path; and which path is what."""

import re
from typing import Final

POLICY: Final = "trimtab"
_INSTANCE: Final = "/network-instances/network-instance[name={instance}]/policy-forwarding"
_RULE: Final = re.compile(r"/rules/rule\[sequence-id=(\d+)\]$")
_BINDING: Final = re.compile(r"/interfaces/interface\[interface-id=([^\]]+)\]/config/apply-fo")
_ENABLED: Final = re.compile(r"^/interfaces/interface\[name=([^\]]+)\]/config/enabled$")
_SOURCE_PORT: Final = re.compile(r"^source_port\[rank=(\d+)\]\[connection=(\d+)\]$")


def policy_path(instance: str = "default") -> str:
    """Return the path of our forwarding policy, with all of its rules."""
    return f"{_INSTANCE.format(instance=instance)}/policies/policy[policy-id={POLICY}]"


def policy_name_path(instance: str = "default") -> str:
    """Return the path whose value says that our policy is there: its name."""
    return f"{policy_path(instance)}/config/policy-id"


def rule_path(sequence_id: int, instance: str = "default") -> str:
    return f"{policy_path(instance)}/rules/rule[sequence-id={sequence_id}]"


def binding_path(interface: str, instance: str = "default") -> str:
    """Return the path of the policy that packets coming in by an interface are held against."""
    top = _INSTANCE.format(instance=instance)
    return f"{top}/interfaces/interface[interface-id={interface}]/config/apply-forwarding-policy"


def enabled_path(interface: str) -> str:
    return f"/interfaces/interface[name={interface}]/config/enabled"


def source_port_path(rank: int, connection: int) -> str:
    return f"source_port[rank={rank}][connection={connection}]"


def rule_number(path: str) -> int | None:
    """Return the sequence number of the rule a path is of; None when it is of none."""
    match = _RULE.search(path)
    return None if match is None else int(match[1])


def bound_interface(path: str) -> str | None:
    match = _BINDING.search(path)
    return None if match is None else match[1]


def enabled_interface(path: str) -> str | None:
    match = _ENABLED.match(path)
    return None if match is None else match[1]


def rank_and_connection(path: str) -> tuple[int, int] | None:
    match = _SOURCE_PORT.match(path)
    return None if match is None else (int(match[1]), int(match[2]))


def is_policy_name(path: str) -> bool:
    return path.endswith("/config/policy-id")


def is_weight(path: str) -> bool:
    return path.endswith("/wecmp-weight")
