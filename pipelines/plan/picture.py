"""A heat map of link loads as SVG: self-contained, readable on light and dark pages.

Blue up to what a link carries, orange and hatched beyond it: told apart by hue, by lightness and
by pattern, so that neither colour blindness nor a grey print hides an overloaded link.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import NDArray

from pipelines.plan.colours import INK, OVERLOAD_TOP_PERCENT, colour, ink
from pipelines.plan.marks import FONT, stroke, text

_MARGIN: Final = 24
_GAP: Final = 56
_GRID_WIDTH, _GRID_HEIGHT = 420, 480
_LETTER: Final = 6.3
_LARGEST_CELL, _SMALLEST_CELL = 34.0, 3.0
_TEXT_WIDTH, _TEXT_HEIGHT = 22.0, 14.0
_LABEL_CELL: Final = 11.0
_COLUMN_ROOM: Final = 17.0
_MOST_ROWS: Final = 160
_HEADING, _LINE, _TITLE = 54, 20, 40
_LEGEND: Final = 64
_DEAD: Final = "#9aa5b1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One map.

    Attributes
    ----------
    percent
        Load of each link in percent of its capacity, by (row, column); NaN = no such link.
    dead
        Links that carry nothing.
    note
        A line below, ``highest 212 %``.
    """

    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    percent: NDArray[np.float64]
    dead: NDArray[np.bool_]
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Panels beside each other that show the same links."""

    heading: str
    panels: tuple[Panel, ...]


def svg(rows: Sequence[Row], *, title: str, about: Sequence[str], legend: str) -> str:
    """Return the whole picture.

    Parameters
    ----------
    about
        Lines below the title.
    legend
        What is shown, with its unit.
    """
    folded = [
        Row(heading=row.heading, panels=tuple(_folded(p) for p in row.panels)) for row in rows
    ]
    boxes = [_Box.around(row) for row in folded]
    widest = [720.0, *(box.width for box in boxes), *(len(line) * 6.8 for line in about)]
    width = max(widest) + 2 * _MARGIN
    parts: list[str] = []
    top = float(_MARGIN + _HEADING + _LINE * len(about))
    for row, box in zip(folded, boxes, strict=True):
        parts += _row(row, box, top)
        top += box.height
    height = top + _LEGEND + _MARGIN
    parts += _legend(top + 6, legend)
    return "\n".join(
        [
            f"<svg xmlns='http://www.w3.org/2000/svg' width='{width:.0f}' height='{height:.0f}' "
            f"viewBox='0 0 {width:.0f} {height:.0f}' role='img' {FONT}>",
            f"<title>{escape(title)}</title><desc>{escape('; '.join(about))}</desc>",
            _DEFINITIONS,
            f"<rect x='0.5' y='0.5' width='{width - 1:.0f}' height='{height - 1:.0f}' rx='8' "
            "fill='#ffffff' stroke='#c5ccd3'/>",
            text(_MARGIN, _MARGIN + 16, title, size=19, weight="600"),
            *(
                text(_MARGIN, _MARGIN + 40 + _LINE * n, line, size=13, fill="#52606d")
                for n, line in enumerate(about)
            ),
            *parts,
            "</svg>\n",
        ]
    )


_DEFINITIONS: Final = (
    "<defs><pattern id='over' width='6' height='6' patternUnits='userSpaceOnUse' "
    "patternTransform='rotate(45)'><line x1='0' y1='0' x2='0' y2='6' stroke='#ffffff' "
    "stroke-opacity='0.45' stroke-width='1.6'/></pattern></defs>"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Box:
    """Sizes that the panels of a row share, in pixels."""

    width_of_cell: float
    height_of_cell: float
    label_width: float
    label_height: float
    panel_width: float
    grid_height: float
    panels: int

    @classmethod
    def around(cls, row: Row) -> "_Box":
        first = row.panels[0]
        columns, lines = len(first.columns), len(first.rows)
        wide, tall = _cell(_GRID_WIDTH, columns), _cell(_GRID_HEIGHT, lines)
        note = max(len(panel.note) for panel in row.panels)
        label_width = max(len(name) for name in first.rows) * _LETTER + 10
        return cls(
            width_of_cell=wide,
            height_of_cell=tall,
            label_width=label_width,
            label_height=max(len(name) for name in first.columns) * _LETTER * 0.75 + 14,
            panel_width=label_width + max(columns * wide + 12, note * _LETTER),
            grid_height=lines * tall,
            panels=len(row.panels),
        )

    @property
    def has_numbers(self) -> bool:
        return self.width_of_cell >= _TEXT_WIDTH and self.height_of_cell >= _TEXT_HEIGHT

    @property
    def is_coarse(self) -> bool:
        """Tell whether a cell is large enough for a border and a pattern."""
        return min(self.width_of_cell, self.height_of_cell) >= _LABEL_CELL

    @property
    def width(self) -> float:
        return self.panels * self.panel_width + (self.panels - 1) * _GAP

    @property
    def height(self) -> float:
        return _TITLE + self.label_height + self.grid_height + 44


def _cell(room: float, count: int) -> float:
    return min(max(room / max(count, 1), _SMALLEST_CELL), _LARGEST_CELL)


def _row(row: Row, box: _Box, top: float) -> Iterator[str]:
    yield text(_MARGIN, top + 4, row.heading, size=14, weight="600")
    for n, panel in enumerate(row.panels):
        left = _MARGIN + n * (box.panel_width + _GAP)
        yield from _panel(panel, box, left + box.label_width, top + _TITLE + box.label_height)


def _panel(panel: Panel, box: _Box, left: float, top: float) -> Iterator[str]:
    grid_width = len(panel.columns) * box.width_of_cell
    yield text(left, top - box.label_height - 6, panel.title, size=13, weight="600")
    yield from _column_labels(panel.columns, box.width_of_cell, left, top)
    for y, name in _spread(panel.rows, box.height_of_cell):
        middle = top + (y + 0.5) * box.height_of_cell + 3.5
        yield text(left - 7, middle, name, size=11, anchor="end")
    yield "<g shape-rendering='crispEdges'>"
    for y in range(len(panel.rows)):
        yield from _cells(panel, y, box, left, top + y * box.height_of_cell)
    yield "</g>"
    yield (
        f"<rect x='{left:.1f}' y='{top:.1f}' width='{grid_width:.1f}' "
        f"height='{box.grid_height:.1f}' fill='none' stroke='#7b8794' stroke-width='0.8'/>"
    )
    if box.has_numbers:
        yield from _numbers(panel, box, left, top)
    yield text(left, top + box.grid_height + 20, panel.note, size=12, fill="#3e4c59")


def _cells(panel: Panel, y: int, box: _Box, left: float, top: float) -> Iterator[str]:
    """Yield a line's cells; neighbours that look the same are one rectangle."""
    looks = [_look(panel, y, x) for x in range(len(panel.columns))]
    wide, tall = box.width_of_cell, box.height_of_cell
    start = 0
    for x in range(1, len(looks) + 1):
        if x < len(looks) and looks[x] == looks[start] and not box.is_coarse:
            continue
        fill, over, dead = looks[start]
        x_of = left + start * wide
        at = f"x='{x_of:.2f}' y='{top:.2f}' width='{(x - start) * wide:.2f}' height='{tall:.2f}'"
        border = " stroke='#ffffff' stroke-width='1'" if box.is_coarse else ""
        if fill:
            yield f"<rect {at} fill='{fill}'{border}/>"
        if over and box.is_coarse:
            yield f"<rect {at} fill='url(#over)'/>"
        if dead and box.is_coarse:
            yield stroke(x_of + 3, top + 3, x_of + wide - 3, top + tall - 3)
        start = x


def _look(panel: Panel, y: int, x: int) -> tuple[str, bool, bool]:
    value = float(panel.percent[y, x])
    if panel.dead[y, x]:
        return _DEAD, False, True
    if np.isnan(value):
        return "", False, False
    return colour(value), value > 100.5, False  # noqa: PLR2004 - what is told as 101 %


def _numbers(panel: Panel, box: _Box, left: float, top: float) -> Iterator[str]:
    size = 10 if box.width_of_cell >= 28 and box.height_of_cell >= 16 else 8.5  # noqa: PLR2004 - three digits fit
    for y, x in zip(*np.nonzero(~np.isnan(panel.percent) & ~panel.dead), strict=True):
        value = float(panel.percent[y, x])
        yield text(
            left + (x + 0.5) * box.width_of_cell,
            top + (y + 0.5) * box.height_of_cell + size * 0.36,
            f"{value:.0f}",
            size=size,
            fill=ink(value),
            anchor="middle",
        )


def _column_labels(names: Sequence[str], cell: float, left: float, top: float) -> Iterator[str]:
    for x, name in _spread(names, cell, room=_COLUMN_ROOM):
        at = f"{left + (x + 0.5) * cell + 3:.1f} {top - 6:.1f}"
        turned = f"transform='translate({at}) rotate(-48)'"
        yield f"<text {turned} font-size='11' fill='{INK}'>{escape(name)}</text>"


def _spread(
    names: Sequence[str], cell: float, *, room: float = _LABEL_CELL
) -> list[tuple[int, str]]:
    """Return the names that there is room for, evenly spread."""
    step = max(1, int(np.ceil(room / cell)))
    return [(n, name) for n, name in enumerate(names) if n % step == 0]


def _legend(top: float, told: str) -> Iterator[str]:
    left, wide, tall = float(_MARGIN), 360.0, 14.0
    steps = np.linspace(0.0, OVERLOAD_TOP_PERCENT, 91)
    each = wide / len(steps)
    yield "<g shape-rendering='crispEdges'>"
    for n, percent in enumerate(steps):
        box = f"x='{left + n * each:.2f}' y='{top:.1f}' width='{each:.2f}' height='{tall}'"
        yield f"<rect {box} fill='{colour(float(percent))}'/>"
    over = left + wide * 100.0 / OVERLOAD_TOP_PERCENT
    yield (
        f"<rect x='{over:.1f}' y='{top:.1f}' width='{left + wide - over:.1f}' height='{tall}' "
        "fill='url(#over)'/></g>"
    )
    for percent in (0, 50, 100, 200, 300):
        x = left + wide * percent / OVERLOAD_TOP_PERCENT
        at = f"≥ {percent} %" if percent == int(OVERLOAD_TOP_PERCENT) else f"{percent} %"
        yield text(x, top + tall + 14, at, size=11, anchor="middle" if percent else "start")
    yield text(left, top + tall + 32, told, size=12, fill="#3e4c59")
    x = left + wide + 50
    box = f"x='{x:.0f}' y='{top:.1f}' width='{tall}' height='{tall}'"
    yield f"<rect {box} fill='{_DEAD}'/>"
    yield stroke(x + 2, top + 2, x + tall - 2, top + tall - 2)
    yield text(x + tall + 8, top + 11.5, "link down", size=12)


def _folded(panel: Panel) -> Panel:
    """Return a panel with at most so many lines, each the worst of several switches."""
    lines = len(panel.rows)
    if lines <= _MOST_ROWS:
        return panel
    each = -(-lines // _MOST_ROWS)
    starts = range(0, lines, each)
    blocks = [slice(start, min(start + each, lines)) for start in starts]
    worst = np.where(np.isnan(panel.percent), -1.0, panel.percent)
    percent = np.array([worst[block].max(axis=0) for block in blocks])
    return Panel(
        title=panel.title,
        rows=tuple(f"{panel.rows[b.start]}..{panel.rows[b.stop - 1]}" for b in blocks),
        columns=panel.columns,
        percent=np.where(percent < 0.0, np.nan, percent),
        dead=np.array([panel.dead[block].any(axis=0) for block in blocks]),
        note=f"{panel.note}; a line is the worst of {each} switches",
    )
