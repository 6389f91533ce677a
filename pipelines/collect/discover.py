"""Asks switches over gNMI whom they hear by LLDP, and how fast their ports are."""

import asyncio
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import grpc
from gnmi_pb import gnmi_pb2 as gnmi
from gnmi_pb import gnmi_pb2_grpc

from cluster.discovered import Interface, Neighbour, SwitchReport
from cluster.findings import Finding
from pipelines.collect.gnmi_request import Resolve, credentials_of, encoding_of, open_channel
from pipelines.collect.paths import Steps, parse_path
from pipelines.collect.texts import Texts, texts
from pipelines.config.collect import CollectConfig, GnmiTarget
from pipelines.errors import ConfigError

_NEIGHBOURS: Final = "/lldp/interfaces/interface/neighbors/neighbor"
_PATHS: Final = (
    "/lldp/state/system-name",
    "/system/state/hostname",
    _NEIGHBOURS,
    "/interfaces/interface/state/oper-status",
    "/interfaces/interface/ethernet/state/port-speed",
    "/interfaces/interface/ethernet/state/negotiated-port-speed",
)
# A path that a target does not have, or that nothing is at.
_ABSENT: Final = frozenset(
    {
        grpc.StatusCode.NOT_FOUND,
        grpc.StatusCode.UNIMPLEMENTED,
        grpc.StatusCode.INVALID_ARGUMENT,
    }
)
_AT_ONCE: Final = 32
_SPEED: Final = re.compile(r"SPEED_(\d+)(GB|MB)")
_UNITS: Final = {"GB": 1e9, "MB": 1e6}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What the targets told; of one that did not answer there is a finding and no report."""

    reports: tuple[SwitchReport, ...]
    findings: tuple[Finding, ...]


async def ask(collect: CollectConfig, resolve: Resolve, *, timeout_seconds: float) -> Answers:
    """Ask all configured targets, some at a time; each has ``timeout_seconds`` per question."""
    limit = asyncio.Semaphore(_AT_ONCE)

    async def one(target: GnmiTarget) -> SwitchReport | Finding:
        origin = collect.subscriptions[target.subscriptions[0]].origin
        async with limit:
            try:
                found = await _ask(target, origin, resolve, timeout_seconds)
            except grpc.aio.AioRpcError as error:
                return _silent(target, f"{error.code().name}: {error.details()}")
            except (OSError, ConfigError) as error:
                return _silent(target, str(error))
        return report(target, found)

    answers = await asyncio.gather(*(one(target) for target in collect.gnmi))
    reports = tuple(answer for answer in answers if isinstance(answer, SwitchReport))
    return Answers(
        reports=reports,
        findings=(
            *(answer for answer in answers if isinstance(answer, Finding)),
            *_without_lldp(reports),
        ),
    )


def report(target: GnmiTarget, found: Texts) -> SwitchReport:
    """Return what a target's leaves say."""
    by_interface: dict[str, Texts] = defaultdict(dict)
    names = []
    for steps, text in found.items():
        if steps[-1].name in {"hostname", "system-name"} and len(steps) == 3:  # noqa: PLR2004 - /lldp/state/system-name
            names.append(text)
        elif len(steps) > 2 and steps[1].name in {"interfaces", "interface"}:  # noqa: PLR2004 - below a list
            name = _key(steps[:3], "interface")
            by_interface[name][steps] = text
    return SwitchReport(
        name=target.name,
        cell=target.cell,
        system_names=tuple(dict.fromkeys(names)),
        interfaces=tuple(_interface(name, leaves) for name, leaves in by_interface.items() if name),
    )


def speed_of(text: str) -> float | None:
    """Return bits per second of ``SPEED_400GB``, with or without module; None when unknown.

    Examples
    --------
    >>> speed_of("openconfig-if-ethernet:SPEED_400GB")
    400000000000.0
    >>> speed_of("SPEED_UNKNOWN")
    """
    match = _SPEED.search(text)
    return float(match[1]) * _UNITS[match[2]] if match else None


async def _ask(target: GnmiTarget, origin: str, resolve: Resolve, timeout_seconds: float) -> Texts:
    metadata = credentials_of(target, resolve)
    found: Texts = {}
    async with open_channel(target, resolve) as channel:
        stub = gnmi_pb2_grpc.gNMIStub(channel)
        capabilities = None
        if target.encoding == "auto":
            capabilities = await stub.Capabilities(
                gnmi.CapabilityRequest(), metadata=metadata, timeout=timeout_seconds
            )
        encoding = encoding_of(target, capabilities)
        for path in _PATHS:
            request = gnmi.GetRequest(path=[parse_path(path, origin=origin)], encoding=encoding)
            try:
                answer = await stub.Get(request, metadata=metadata, timeout=timeout_seconds)
            except grpc.aio.AioRpcError as error:
                if error.code() not in _ABSENT:
                    raise
            else:
                found |= texts(answer.notification)
    return found


def _silent(target: GnmiTarget, why: str) -> Finding:
    return Finding(
        kind="no_answer",
        component=f"switch/{target.name}",
        text=f"{target.address} was not asked with success: {why}",
    )


def _without_lldp(reports: Sequence[SwitchReport]) -> Iterator[Finding]:
    for one in reports:
        if not any(interface.neighbours for interface in one.interfaces):
            yield Finding(
                kind="no_lldp",
                component=f"switch/{one.name}",
                text="tells no LLDP neighbour: is LLDP on?",
            )


def _interface(name: str, leaves: Texts) -> Interface:
    plain = {
        steps[-1].name: text for steps, text in leaves.items() if steps[0].name == "interfaces"
    }
    by_neighbour: dict[str, Texts] = defaultdict(dict)
    for steps, text in leaves.items():
        if steps[0].name == "lldp":
            by_neighbour[_key(steps, "neighbor")][steps] = text
    heard = [_neighbour(of_one) for key, of_one in sorted(by_neighbour.items()) if key]
    return Interface(
        name=name,
        is_up=plain.get("oper-status", "UP").endswith("UP"),
        bits_per_second=speed_of(plain.get("port-speed", ""))
        or speed_of(plain.get("negotiated-port-speed", "")),
        neighbours=tuple(neighbour for neighbour in heard if neighbour.system_name),
    )


def _neighbour(leaves: Texts) -> Neighbour:
    told = {steps[-1].name: text for steps, text in leaves.items() if not _key(steps, "capability")}
    on = {
        name.rpartition(":")[2]
        for steps, text in leaves.items()
        if steps[-1].name == "enabled" and text == "true" and (name := _key(steps, "capability"))
    }
    # A port that names itself by its MAC address has its interface's name in the description.
    is_mac = told.get("port-id-type", "").endswith("MAC_ADDRESS")
    port = (is_mac and told.get("port-description")) or told.get("port-id", "")
    return Neighbour(
        system_name=told.get("system-name") or told.get("chassis-id", ""),
        port=port,
        capabilities=frozenset(on),
    )


def _key(steps: Steps, element: str) -> str:
    """Return the key of a list's entry on the way, empty where the path has none."""
    return next((s.keys[0][1] for s in steps if s.name == element and s.keys), "")
