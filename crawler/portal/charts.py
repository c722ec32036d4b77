"""Charts as SVG, drawn on the server: they need no script, and the stylesheet colours them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup

#: The size of the drawing; the page stretches it, and the lines keep their width.
_WIDTH, _HEIGHT = 600.0, 120.0
#: Below this, a power of ten cannot be computed well.
_LEAST = 1e-300
#: What the highest value of a chart may be: these times a power of ten.
_ROUND = (1, 1.5, 2, 3, 4, 5, 6, 8, 10)


def top_of(values: Sequence[float]) -> float:
    """Return a round number that is at least as large as all *values*; 1 if none is worth a line."""
    highest = max(values, default=0.0)
    if highest < _LEAST:
        return 1.0
    power = 10.0 ** math.floor(math.log10(highest))
    return next((step * power for step in _ROUND if step * power >= highest), 10 * power)


def line(points: Sequence[tuple[float, float]], *, end: float, top: float, label: str) -> Markup:
    """
    Return a line over time with its area filled, from 0 seconds to *end*.

    *points* are two or more; *top* is the value at the upper edge.
    """
    scale = _WIDTH / max(end, 1e-9)
    pairs = " ".join(
        f"{at * scale:.1f},{_HEIGHT * (1 - min(value, top) / top):.1f}" for at, value in points
    )
    return _drawing(
        Markup(
            '<polygon class="area" points="{first:.1f},{h:g} {pairs} {last:.1f},{h:g}"/>'
        ).format(h=_HEIGHT, pairs=pairs, first=points[0][0] * scale, last=points[-1][0] * scale)
        + Markup('<polyline class="line" points="{}"/>').format(pairs),
        label,
    )


def columns(values: Sequence[float], *, label: str) -> Markup:
    """Return one column for each value, side by side."""
    top, width = max(values, default=0) or 1, _WIDTH / max(len(values), 1)
    rectangle = Markup('<rect class="column" x="{}" y="{}" width="{}" height="{}"/>')
    drawn = [
        rectangle.format(
            f"{number * width + width * 0.08:.1f}",
            f"{_HEIGHT * (1 - value / top):.1f}",
            f"{width * 0.84:.1f}",
            f"{_HEIGHT * value / top:.1f}",
        )
        for number, value in enumerate(values)
    ]
    return _drawing(Markup("").join(drawn), label)


def bar(parts: Sequence[tuple[str, float]], *, label: str) -> Markup:
    """
    Return a horizontal bar of *parts*: the CSS class of each, and its share (0 to 1).

    What they leave of the bar stays empty.
    """
    drawn, start = Markup(""), 0.0
    for kind, share in parts:
        drawn += Markup('<rect class="{}" x="{}%" width="{}%" height="100%"/>').format(
            kind, f"{100 * start:.2f}", f"{100 * share:.2f}"
        )
        start += share
    return Markup('<svg class="bar" role="img" aria-label="{}">{}</svg>').format(label, drawn)


def _drawing(content: Markup, label: str) -> Markup:
    grid = Markup("").join(
        Markup('<line class="grid" x1="0" x2="{}" y1="{y}" y2="{y}"/>').format(f"{_WIDTH:g}", y=y)
        for y in (0, f"{_HEIGHT / 2:g}", f"{_HEIGHT:g}")
    )
    return Markup(
        '<svg class="chart" role="img" aria-label="{}" viewBox="0 0 {} {}"'
        ' preserveAspectRatio="none">{}{}</svg>'
    ).format(label, f"{_WIDTH:g}", f"{_HEIGHT:g}", grid, content)
