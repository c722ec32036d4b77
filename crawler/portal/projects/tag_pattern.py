"""Which tags of a repository are versions of a project."""

from __future__ import annotations

import re

from ..store.projects import is_version

DEFAULT = "release/{name}/{version}"
_TEXT = re.compile(r"[A-Za-z0-9._/+@-]*")
_VERSION = r"(?P<version>[0-9A-Za-z.!+_-]{1,64})"
_RELEASE = r"[0-9A-Za-z._-]{1,64}"


def wrong_pattern(pattern: str) -> str:
    """Return what is wrong with a pattern of tags; "" if it is right."""
    places = re.findall(r"\{\w+\}", pattern.lower())
    if places.count("{version}") != 1 or len(set(places)) != len(places):
        return "one {version} is needed, and at most one {name} and one {release}"
    text = re.sub(r"\{(name|version|release)\}", "", pattern, flags=re.IGNORECASE)
    if is_of_titles(pattern):
        text = text.replace(":", "")
    if not _TEXT.fullmatch(text) or ".." in pattern or len(pattern) > 100:
        return "only letters, digits, . _ / + @ and - beside {name}, {version} and {release}"
    return ""


def is_of_titles(pattern: str) -> bool:
    """
    Return whether a pattern is one of titles: the first lines of the messages of annotated tags.

    A tag itself cannot have a colon, so {Release}:{Name}:{Version} is such a pattern.
    """
    return ":" in pattern


def version_of(text: str, pattern: str, name: str) -> str:
    """
    Return the version that *text* names by the *pattern* of the project *name*; "" if none.

    *text* is a tag, or the title of one.
    """
    values = {"name": re.escape(name), "version": _VERSION, "release": _RELEASE}
    expression = re.sub(
        r"\\\{(name|version|release)\\\}",
        lambda place: values[place[1].lower()],
        re.escape(pattern),
        flags=re.IGNORECASE,
    )
    found = re.fullmatch(expression, text)
    return found["version"] if found and is_version(found["version"]) else ""
