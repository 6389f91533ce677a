"""Speaks to a switch through pygnmi; a program of its own, since pygnmi's messages cannot be loaded
beside ours in one process. Prints what came of it as JSON.
"""

import json
import sys

from pygnmi.client import gNMIclient

host, port, user, password, weight_path, octets_path = sys.argv[1:]

with gNMIclient(
    target=(host, int(port)), username=user, password=password, insecure=True
) as client:
    told = {"models": len(client.capabilities()["supported_models"])}
    told["before"] = client.get(path=[weight_path], encoding="json_ietf")
    told["set"] = client.set(update=[(weight_path, 7)], encoding="json_ietf")
    told["after"] = client.get(path=[weight_path], encoding="json_ietf")
    stream = client.subscribe_stream(
        subscribe={
            "subscription": [
                {"path": octets_path, "mode": "sample", "sample_interval": 200_000_000}
            ],
            "mode": "stream",
            "encoding": "proto",
        }
    )
    updates = []
    for message in stream:
        updates += [change["val"] for change in message.get("update", {}).get("update", [])]
        if len(updates) >= 3:
            break
    told["octets"] = updates
sys.stdout.write(json.dumps(told))
