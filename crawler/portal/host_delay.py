"""HostDelay: the delay of a host that somebody asks for, checked."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Self

from .. import url as urls

#: A host as somebody types it, with a port or not; and as a crawl names it.
_TYPED, _HOST = re.compile(r"[^\s/?#@\\]{1,253}"), re.compile(r"[a-z0-9._:-]{1,253}")
#: A day is the longest delay, in seconds.
LONGEST = 86400.0


@dataclass(frozen=True)
class HostDelay:
    host: str
    seconds: float

    @classmethod
    def of(cls, host: str, seconds: str | float) -> Self:
        """Return the delay of a *host* as it was typed; raise ValueError, which says what is wrong."""
        return cls(_host(host.strip()), _seconds(seconds))


def _host(typed: str) -> str:
    if not _TYPED.fullmatch(typed):
        raise ValueError("a host is needed, such as example.org")
    is_bare = typed.count(":") > 1 and not typed.startswith("[")
    try:
        found = urls.host(f"http://[{typed}]/" if is_bare else f"http://{typed}/")
    except ValueError:
        found = ""
    if not _HOST.fullmatch(found):
        raise ValueError(f"{typed!r} is not a host")
    return found


def _seconds(given: str | float) -> float:
    try:
        seconds = float(given)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= LONGEST:
        raise ValueError(f"a delay has 0 to {LONGEST:.0f} seconds, not {given!r:.40}")
    return seconds
