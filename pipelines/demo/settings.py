"""The demo's deployment: what the simulator offers, and settings that fit into five minutes."""

import base64
import json
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomli_w

from pipelines.supervise.deployment import free_ports as take_free_ports

CONFIG_FILE = "trimtab.toml"
_TOPOLOGY_FILE = "topology.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """Loopback ports of one demo."""

    job_channel: int
    console: int
    database: int
    broker: int
    webhook: int
    health: tuple[int, int, int, int]


def free_ports() -> Ports:
    """Return ports that nobody listens on now, all different."""
    taken = take_free_ports(9)
    return Ports(
        job_channel=taken[0],
        console=taken[1],
        database=taken[2],
        broker=taken[3],
        webhook=taken[4],
        health=(taken[5], taken[6], taken[7], taken[8]),
    )


def write_tokens(folder: Path) -> None:
    """Make the demo's secrets: who may change a job, use the console, and sign webhooks."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("job_channel.token", "console.token"):
        _write_secret(folder / name, secrets.token_urlsafe(24))
    key = base64.b64encode(secrets.token_bytes(32)).decode()
    _write_secret(folder / "webhook.secret", f"whsec_{key}")


def write_config(
    folder: Path, *, inventory_path: Path, ports: Ports, broker_url: str = "embedded"
) -> Path:
    """Write the configuration for what the simulator offers; return the configuration's path."""
    inventory = json.loads(inventory_path.read_text())
    (folder / _TOPOLOGY_FILE).write_text(tomli_w.dumps(_without_none(inventory["topology"])))
    path = folder / CONFIG_FILE
    path.write_text(tomli_w.dumps(_without_none(_config(inventory, ports, broker_url))))
    return path


def _config(inventory: dict[str, Any], ports: Ports, broker_url: str) -> dict[str, Any]:
    collect, detect, act, record = ports.health
    return {
        "deployment": {
            "name": "demo",
            "state_dir": "state",
            "topology_file": _TOPOLOGY_FILE,
            "health_ports": {"collect": collect, "detect": detect, "act": act, "record": record},
        },
        "broker": {"url": broker_url, "embedded_port": ports.broker, "partitions": 1},
        "database": {"url": "embedded", "embedded_port": ports.database},
        "collect": inventory["collect"]
        | {
            "job_channel": {
                "address": f"127.0.0.1:{ports.job_channel}",
                "token_file": "job_channel.token",
            }
        },
        "detect": {"warmup_samples": 45, "resolve_seconds": 20.0, "join_seconds": 8.0},
        "act": {
            "mode": "auto",
            "cooldown_seconds": 30.0,
            "objectives": inventory["objectives"],
            "serving": inventory["serving"],
            "effect": {"settle_seconds": 6.0, "window_seconds": 20.0},
            "reroute": {"hold_down_seconds": 15.0},
        },
        "webhooks": [
            {
                "name": "demo",
                "url": f"http://127.0.0.1:{ports.webhook}/",
                "secret_file": "webhook.secret",
                "allow_private": True,
            }
        ],
        "serve": {"address": f"127.0.0.1:{ports.console}", "token_file": "console.token"},
    }


def _write_secret(path: Path, secret: str) -> None:
    path.touch(mode=0o600)
    path.write_text(secret + "\n")


def _without_none(value: Any) -> Any:
    """Return the value without what TOML has no word for."""
    if isinstance(value, dict):
        return {key: _without_none(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_without_none(item) for item in value]
    return value
