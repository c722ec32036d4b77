"""Where in the user's code an exception was raised."""

from __future__ import annotations

import sysconfig
import traceback
from collections.abc import Iterator
from pathlib import Path

#: The code that is not the user's: this package, the standard library and installed packages.
_NOT_THE_USERS = (
    str(Path(__file__).parents[1]),
    *(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")),
    "<frozen ",
    "src/gevent/",
)
#: The code that dataclasses and attrs write: a line of it tells nothing, if there is another one.
_GENERATED = ("<string>", "<attrs generated")
#: The characters of a traceback that are kept: its beginning and its end say most.
_TRACE_START, _TRACE_END = 1000, 3000


def line_of(error: BaseException) -> tuple[str, int] | None:
    """
    Return file and line of the innermost call of the user's code; None if there was none.

    A failure in a group is looked for before the causes: they explain it, and are elsewhere. An
    error that comes from another process has its place as an attribute.
    """
    for one in _related(error):
        known: tuple[str, int] | None = getattr(one, "place", None)
        if known is not None:
            return known
        walked = traceback.walk_tb(one.__traceback__)
        frames = [(frame.f_code.co_filename, line) for frame, line in walked]
        own = [frame for frame in frames if not frame[0].startswith(_NOT_THE_USERS)]
        if own:
            return ([frame for frame in own if not frame[0].startswith(_GENERATED)] or own)[-1]
    return None


def trace_of(error: BaseException) -> str:
    """Return the traceback of *error* as text; the middle of a long one is left out."""
    text = getattr(error, "trace", "") or "".join(traceback.format_exception(error))
    if len(text) <= _TRACE_START + _TRACE_END:
        return text
    return f"{text[:_TRACE_START]}\n…\n{text[-_TRACE_END:]}"


def _related(error: BaseException) -> Iterator[BaseException]:
    """Yield *error*, the first failure of a group, and so on, then the cause of each."""
    seen: list[BaseException] = []
    waiting = [error]
    while waiting:
        one = waiting.pop()
        if one in seen:
            continue
        seen.append(one)
        yield one
        waiting += [one.__cause__] if one.__cause__ is not None else []
        waiting += one.exceptions[:1] if isinstance(one, BaseExceptionGroup) else ()
