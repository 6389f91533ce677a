"""What the demo shows while it works: one line an event, and a sign of life in between."""

import time
from typing import TextIO

_PULSE_SECONDS = 10.0


class Progress:
    """Writes lines with the seconds since the start."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._started = time.monotonic()
        self._last = 0.0

    def say(self, text: str) -> None:
        self._last = time.monotonic()
        self.show(f"[{self._last - self._started:5.0f} s] {text}")

    def pulse(self, text: str) -> None:
        """Say it unless something was said a moment ago."""
        if time.monotonic() - self._last >= _PULSE_SECONDS:
            self.say(text)

    def show(self, text: str) -> None:
        self._out.write(text + "\n")
        self._out.flush()
