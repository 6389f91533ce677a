"""Colours of a load: blue up to capacity, orange beyond it."""

from itertools import pairwise
from typing import Final

INK: Final = "#1f2933"
OVERLOAD_TOP_PERCENT: Final = 300.0
_Rgb = tuple[int, int, int]
# Of even steps in lightness; the darkest blue and the lightest orange meet at 100 %.
_WITHIN: Final[tuple[tuple[float, _Rgb], ...]] = (
    (0.0, (247, 250, 253)),
    (25.0, (205, 224, 241)),
    (50.0, (137, 186, 219)),
    (75.0, (65, 134, 190)),
    (100.0, (16, 78, 139)),
)
_BEYOND: Final[tuple[tuple[float, _Rgb], ...]] = (
    (100.0, (253, 190, 110)),
    (150.0, (244, 140, 50)),
    (200.0, (214, 96, 12)),
    (OVERLOAD_TOP_PERCENT, (127, 39, 4)),
)
_FULL: Final = 100.5
_STEPS: Final = 2.5


def colour(percent: float) -> str:
    """Return ``#rrggbb``, in steps that the eye does not tell apart."""
    return "#{:02x}{:02x}{:02x}".format(*_rgb(percent))


def ink(percent: float) -> str:
    """Return the colour of a number written on it."""
    red, green, blue = _rgb(percent)
    bright = 0.299 * red + 0.587 * green + 0.114 * blue
    return INK if bright > 135 else "#ffffff"  # noqa: PLR2004 - of 255


def _rgb(percent: float) -> _Rgb:
    stops = _WITHIN if percent <= _FULL else _BEYOND
    value = min(max(round(percent / _STEPS) * _STEPS, stops[0][0]), stops[-1][0])
    for (low, dark), (high, light) in pairwise(stops):
        if value <= high:
            part = (value - low) / (high - low)
            red, green, blue = (round(a + part * (b - a)) for a, b in zip(dark, light, strict=True))
            return red, green, blue
    return stops[-1][1]
