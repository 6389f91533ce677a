"""What acting has read, on disk: a restart between a degradation and its answer must not forget.

The levels from before an onset come in no later frame, and a broker may be emptied. Neither are
layouts to be waited for: until a frame brings one again nothing of its source could be read.
"""

import asyncio
import json
from pathlib import Path
from typing import Any

import structlog

from actuators.readings import Reading
from cluster.frame import Layout, SeriesKey
from pipelines.agents.act_feed import Feed, Past
from pipelines.messages.frames import FrameDecoder

log = structlog.get_logger()

_EVERY_SECONDS = 5.0
_FORMAT = "trimtab.act.1"


class Memory:
    """One file, replaced as a whole; one that cannot be read is as good as none."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def bring_back(self, feed: Feed, decoder: FrameDecoder) -> None:
        """Let them go on from what an earlier run stored."""
        past = self._load()
        if past is None:
            return
        feed.restore(past)
        for layout in past.layouts:
            decoder.remember(layout)

    def store(self, past: Past) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        partial = self._path.with_suffix(".partial")
        partial.write_text(json.dumps(_told(past)))
        partial.replace(self._path)

    async def keep(self, feed: Feed) -> None:
        """Store every few seconds what the feed remembers, for ever."""
        while True:
            await asyncio.sleep(_EVERY_SECONDS)
            try:
                await asyncio.to_thread(self.store, feed.past())
            except OSError as error:
                log.warning("memory not stored, tried again", detail=str(error))

    def _load(self) -> Past | None:
        try:
            told = json.loads(self._path.read_bytes())
            return _past(told) if told["format"] == _FORMAT else None
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            log.warning("memory not read", path=str(self._path), detail=repr(error))
            return None


def _told(past: Past) -> dict[str, Any]:
    return {
        "format": _FORMAT,
        "objectives": list(past.objectives.items()),
        "levels": list(past.levels.items()),
        "layouts": [layout.columns for layout in past.layouts],
        "read": past.read,
    }


def _past(told: dict[str, Any]) -> Past:
    return Past(
        objectives={SeriesKey(*key): _readings(rows) for key, rows in told["objectives"]},
        levels={SeriesKey(*key): _readings(rows) for key, rows in told["levels"]},
        layouts=[Layout(tuple(SeriesKey(*key) for key in columns)) for columns in told["layouts"]],
        read={source: (collector, last) for source, (collector, last) in told["read"].items()},
    )


def _readings(rows: list[list[Any]]) -> list[Reading]:
    return [
        Reading(int(time_ns), int(received_ns), float(value))
        for time_ns, received_ns, value in rows
    ]
