"""What is asked of a gNMI target: channel, credentials, encoding, subscription."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

import grpc
from gnmi_pb import gnmi_pb2 as gnmi

from pipelines.collect.paths import parse_path
from pipelines.config.collect import GnmiSubscription, GnmiTarget
from pipelines.config.load import read_secret

_LARGEST_MESSAGE_BYTES: Final = 64 * 1024 * 1024
_ENCODINGS: Final[dict[str, int]] = {
    "proto": gnmi.PROTO,
    "json_ietf": gnmi.JSON_IETF,
    "json": gnmi.JSON,
}
_PREFERRED: Final[tuple[int, ...]] = (gnmi.PROTO, gnmi.JSON_IETF, gnmi.JSON)
_MODES: Final = {
    "sample": gnmi.SAMPLE,
    "on_change": gnmi.ON_CHANGE,
    "target_defined": gnmi.TARGET_DEFINED,
}
_NS: Final = 1_000_000_000

Resolve = Callable[[Path], Path]


def open_channel(target: GnmiTarget, resolve: Resolve) -> grpc.aio.Channel:
    """Return a channel that notices a dead peer; clear text only where the target says so."""
    options: list[tuple[str, int | str]] = [
        ("grpc.keepalive_time_ms", int(target.keepalive_seconds * 1000)),
        ("grpc.keepalive_timeout_ms", 10_000),
        ("grpc.http2.max_pings_without_data", 0),
        ("grpc.max_receive_message_length", _LARGEST_MESSAGE_BYTES),
        ("grpc.enable_retries", 0),
        ("grpc.http2.bdp_probe", 0),
        ("grpc.http2.lookahead_bytes", 128 * 1024),
    ]
    if target.insecure:
        return grpc.aio.insecure_channel(target.address, options=options)
    tls = target.tls
    if tls.server_name:
        options.append(("grpc.ssl_target_name_override", tls.server_name))
    credentials = grpc.ssl_channel_credentials(
        root_certificates=_read(tls.ca_file, resolve),
        private_key=_read(tls.key_file, resolve),
        certificate_chain=_read(tls.cert_file, resolve),
    )
    return grpc.aio.secure_channel(target.address, credentials, options=options)


def credentials_of(target: GnmiTarget, resolve: Resolve) -> tuple[tuple[str, str], ...]:
    """Return the call's metadata; the password is read anew, so that it may be changed."""
    if not target.username:
        return ()
    password = read_secret(resolve(target.password_file)) if target.password_file else ""
    return (("username", target.username), ("password", password))


def encoding_of(target: GnmiTarget, capabilities: gnmi.CapabilityResponse | None) -> int:
    """Return the encoding to ask for: the first of PROTO, JSON_IETF, JSON that there is."""
    if target.encoding != "auto":
        return _ENCODINGS[target.encoding]
    offered = set(capabilities.supported_encodings) if capabilities is not None else set()
    return next((e for e in _PREFERRED if e in offered), gnmi.JSON)


def subscribe_request(subscription: GnmiSubscription, encoding: int) -> gnmi.SubscribeRequest:
    wanted = gnmi.SubscriptionList(mode=gnmi.SubscriptionList.STREAM, encoding=encoding)
    if subscription.database:
        wanted.prefix.target = subscription.database
    for text in subscription.paths:
        one = wanted.subscription.add(
            path=parse_path(text, origin=subscription.origin),
            mode=_MODES[subscription.mode],
            suppress_redundant=subscription.suppress_redundant,
            heartbeat_interval=int((subscription.heartbeat_seconds or 0.0) * _NS),
        )
        # A target refuses an interval on what it paces itself.
        if subscription.mode == "sample":
            one.sample_interval = int(subscription.interval_seconds * _NS)
    return gnmi.SubscribeRequest(subscribe=wanted)


def silence_seconds(subscription: GnmiSubscription) -> float | None:
    """Return how long a live stream can be silent at most; None where it may be for ever."""
    heartbeat = subscription.heartbeat_seconds or 0.0
    longest = max(subscription.interval_seconds, heartbeat)
    if subscription.mode != "sample":
        longest = heartbeat
    return 3.0 * longest or None


def _read(path: Path | None, resolve: Resolve) -> bytes | None:
    return None if path is None else resolve(path).read_bytes()
