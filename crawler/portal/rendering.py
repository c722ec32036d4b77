"""Templates: the only place where text becomes markup; everything is escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from .._distribution import __version__
from .._words import counted
from ..job.view import Story
from ..report.reasons import AGAIN, EXITS, explain
from ..report.text import clock, printable, printable_lines, size
from . import charts

_FILES = Path(__file__).parent
#: The parts of the page of a run, each of which is replaced by itself when it changes.
SECTIONS = (
    "status",
    "controls",
    "queue",
    "limit",
    "speed",
    "outcomes",
    "codes",
    "hosts",
    "errors",
    "records",
    "stages",
)


@cache
def _templates() -> Environment:
    templates = Environment(
        loader=FileSystemLoader(_FILES / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    templates.filters.update(
        clock=clock,
        lines=printable_lines,
        moment=moment,
        number=number,
        ranges=ranges,
        remedied=remedied,
        seconds=seconds,
        shown=printable,
        size=size,
        when=when,
    )
    templates.globals.update(
        charts=charts,
        counted=counted,
        exits=EXITS,
        quoted=quote,
        crawler_version=__version__,
    )
    return templates


def render(template: str, **values: Any) -> str:
    text: str = _templates().get_template(template).render(**values)
    return text


def sections(run: Any, names: tuple[str, ...] = SECTIONS, **values: Any) -> Mapping[str, Markup]:
    """
    Return the sections of the page of *run* by name.

    They link to the stories of URLs if the page *has_stories*, and to a log if it *has_log*.
    """
    base = {"run": run, "summary": run.summary, "csrf": "", "has_stories": True, "has_log": False}
    values = base | values
    return {name: Markup(render(f"run/{name}.html", **values)) for name in names}  # noqa: S704


def why_page(name: str, url: str, stories: Sequence[Story], session: object = None) -> str:
    """Return what happened to *url* in the run *name*: a page of a portal if there is a *session*."""
    layout = "site/base.html" if session else "bare.html"
    return render(
        "why.html",
        name=name,
        url=url,
        stories=stories,
        explain=explain,
        layout=layout,
        session=session,
    )


def static(name: str) -> str:
    """Return the text of a file that pages need: style.css, live.js or icon.svg."""
    return (_FILES / "static" / name).read_text()


def number(value: float) -> str:
    """Return *value* with thin spaces between thousands; with decimals only if it is small."""
    text = f"{value:,.0f}" if value >= 10 or value == int(value) else f"{value:.1f}"
    return text.replace(",", "\u202f")


def remedied(text: str, *, in_portal: bool) -> str:
    """Return *text*, which in a portal names a button instead of a command to run again."""
    return text.replace(AGAIN, "resume this job to continue") if in_portal else text


def ranges(numbers: Sequence[int]) -> str:
    """Return sorted numbers as 0–3, 7, 9–12."""
    found: list[list[int]] = []
    for value in numbers:
        if found and value == found[-1][-1] + 1:
            found[-1][1:] = [value]
        else:
            found.append([value])
    return ", ".join("–".join(map(str, pair)) for pair in found) or "–"


def seconds(value: float) -> str:
    """Return a time with a unit that suits it: 3 ms, 1.2 s, 2:03 min."""
    if value < 1:
        return f"{value * 1000:.0f} ms"
    return f"{value:.1f} s" if value < 60 else f"{clock(value)} min"


def when(moment: float | None) -> Markup:
    """Return a time in seconds since 1970 as an element that a script can show in the reader's zone."""
    if moment is None:
        return Markup("–")
    at = datetime.fromtimestamp(moment, UTC)
    return Markup('<time datetime="{}">{} UTC</time>').format(
        at.isoformat(timespec="seconds"), at.strftime("%Y-%m-%d %H:%M:%S")
    )


def moment(at: float) -> Markup:
    """Return the time of a log line, which has milliseconds; its date is in the title."""
    utc = datetime.fromtimestamp(at, UTC)
    text = utc.isoformat(timespec="milliseconds")
    return Markup('<time datetime="{}" title="{}" data-kind="clock">{}</time>').format(
        text, f"{utc:%Y-%m-%d %H:%M:%S} UTC", text[11:23]
    )
