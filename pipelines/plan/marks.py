"""Words and lines of a picture."""

from typing import Final
from xml.sax.saxutils import escape

from pipelines.plan.colours import INK

# On the picture's root, from where every word has it.
FONT: Final = "font-family='system-ui, Segoe UI, Helvetica, Arial, DejaVu Sans, sans-serif'"


def stroke(x1: float, y1: float, x2: float, y2: float) -> str:
    return (
        f"<line x1='{x1:.1f}' y1='{y1:.1f}' x2='{x2:.1f}' y2='{y2:.1f}' "
        f"stroke='{INK}' stroke-width='1.4'/>"
    )


def text(
    x: float,
    y: float,
    words: str,
    *,
    size: float,
    weight: str = "400",
    fill: str = INK,
    anchor: str = "start",
) -> str:
    bold = "" if weight == "400" else f" font-weight='{weight}'"
    side = "" if anchor == "start" else f" text-anchor='{anchor}'"
    at = f"x='{x:.1f}' y='{y:.1f}'"
    return f"<text {at} font-size='{size}'{bold}{side} fill='{fill}'>{escape(words)}</text>"
