"""A deployment of the replay's own: embedded services, detection and recording, no acting."""

import shutil
from pathlib import Path

import tomli_w

from pipelines.config.load import Loaded
from pipelines.supervise.deployment import Deployment, free_ports

_CONFIG_FILE = "trimtab.toml"
_TOPOLOGY_FILE = "topology.toml"
# The replay waits for the last snapshot, which acknowledges what was detected on.
_SNAPSHOT_SECONDS = 5.0


def start_own(deployment: Deployment, folder: Path, *, warmup_samples: int) -> Loaded:
    """Empty the folder, configure a deployment in it, run it and wait until it works.

    Raises
    ------
    ConfigError
        The folder has something in it that no replay wrote.
    ChildFailedError
        It does not start.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / _TOPOLOGY_FILE).write_text("")
    path = folder / _CONFIG_FILE
    path.write_text(tomli_w.dumps(_config(warmup_samples)))
    return deployment.start_up(path, log_path=folder / "logs" / "up.log")


def _config(warmup_samples: int) -> dict[str, object]:
    collect, detect, act, record, console, job_channel = free_ports(6)
    return {
        "deployment": {
            "name": "replay",
            "state_dir": "state",
            "topology_file": _TOPOLOGY_FILE,
            "health_ports": {"collect": collect, "detect": detect, "act": act, "record": record},
        },
        "broker": {"url": "embedded", "partitions": 1},
        "database": {"url": "embedded"},
        "collect": {"job_channel": {"address": f"127.0.0.1:{job_channel}"}},
        "detect": {"warmup_samples": warmup_samples, "snapshot_seconds": _SNAPSHOT_SECONDS},
        "act": {"mode": "off"},
        "serve": {"address": f"127.0.0.1:{console}"},
    }
