"""The errors of the pipeline.

::

    ConfigError                   wrong configuration: told at start, exit 2, nothing started
    DecodeError                   input that cannot be read: counted by reason and skipped
    actuators.ports.ActuationError
        TransientActuationError   retried, with the limit in the configuration
        PermanentActuationError   recorded as failed
"""


class ConfigError(Exception):
    """A configuration that cannot be used; the message names file, key and what is allowed."""


class DecodeError(ValueError):
    """Input that cannot be read.

    ``reason`` is a short constant code that it is counted and dead-lettered by; the message tells
    the rest.
    """

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
