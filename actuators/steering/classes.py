"""Classes of source ports: a switch has one fixed rule a class, a host picks a port of one."""

from dataclasses import dataclass
from typing import Final

LARGEST_PORT: Final = 65_535
FIRST_DYNAMIC_PORT: Final = 49_152  # RFC 6335; RoCEv2 queue pairs send from here on, too


@dataclass(frozen=True, slots=True, kw_only=True)
class PortClasses:
    """``count`` classes of ``size`` source ports each, one behind the other.

    Class k is uplink k of whatever leaf the connection is sent through.

    Raises
    ------
    ValueError
        The classes do not fit between ``first_port`` and 65,535.
    """

    first_port: int = FIRST_DYNAMIC_PORT
    size: int = 1_024
    count: int = 16

    def __post_init__(self) -> None:
        if self.first_port < 1 or self.size < 1 or self.count < 1:
            raise ValueError(f"port classes are {self!r}: every number must be positive")
        last = self.first_port + self.size * self.count - 1
        if last > LARGEST_PORT:
            raise ValueError(f"port classes end at {last}, beyond {LARGEST_PORT}")

    def bounds(self, number: int) -> tuple[int, int]:
        """Return a class's first and last port.

        Raises
        ------
        ValueError
            There is no such class.
        """
        if not 0 <= number < self.count:
            raise ValueError(f"port class is {number}, not 0 to {self.count - 1}")
        first = self.first_port + number * self.size
        return first, first + self.size - 1

    def class_of(self, port: int) -> int | None:
        """Return the class a port is of; None when it is of none."""
        number = (port - self.first_port) // self.size
        return number if 0 <= number < self.count else None

    def port(self, number: int, slot: int) -> int:
        """Return the ``slot``-th port of a class, counted round."""
        return self.bounds(number)[0] + slot % self.size
