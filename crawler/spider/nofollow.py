"""How a page asks robots not to follow its links."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from ..headers import Headers

_NOFOLLOW = frozenset({"nofollow", "none"})
#: Directives of X-Robots-Tag that have a value; any other name before a colon is that of a robot.
_VALUED = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})
_SEPARATORS = re.compile(r"[\s,]+")


def is_nofollow(rel: str | None) -> bool:
    """Return whether *rel* has ``nofollow``; ``ugc`` and ``sponsored`` say who set it."""
    return rel is not None and "nofollow" in rel.lower().split()


def page_says_nofollow(metas: Iterable[Mapping[str, str | None]]) -> bool:
    """Return whether one of the ``meta`` elements with these attributes says nofollow."""
    return any(
        not _NOFOLLOW.isdisjoint(_SEPARATORS.split((meta.get("content") or "").lower()))
        for meta in metas
        if (meta.get("name") or "").strip().lower() == "robots"
    )


def header_says_nofollow(headers: Headers) -> bool:
    return any(_says_nofollow(value.lower()) for value in headers.all("x-robots-tag"))


def _says_nofollow(directives: str) -> bool:
    """Read up to the name of a robot: the directives after it are for that robot only."""
    for directive in directives.split(","):
        name, colon, _ = map(str.strip, directive.partition(":"))
        if colon and name not in _VALUED:
            return False
        if name in _NOFOLLOW:
            return True
    return False
