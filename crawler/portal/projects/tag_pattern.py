"""Which tags of a repository are versions of a project."""

from __future__ import annotations

import re

from ..store.projects import is_version

DEFAULT = "release/{name}/{version}"
_TEXT = re.compile(r"[A-Za-z0-9._/+@-]*")
_VERSION = r"(?P<version>[0-9A-Za-z.!+_-]{1,64})"


def wrong_pattern(pattern: str) -> str:
    """Return what is wrong with a pattern of tags; "" if it is right."""
    if ":" in pattern:
        return "a git tag has no colon: write release/{name}/{version}"
    if pattern.count("{version}") != 1 or pattern.count("{name}") > 1:
        return "one {version} is needed, and at most one {name}"
    text = pattern.replace("{version}", "").replace("{name}", "")
    if not _TEXT.fullmatch(text) or ".." in pattern or len(pattern) > 100:
        return "only letters, digits, . _ / + @ and - beside {name} and {version}"
    return ""


def version_of(tag: str, pattern: str, name: str) -> str:
    """Return the version that *tag* names by the *pattern* of the project *name*; "" if none."""
    text = re.escape(pattern).replace(r"\{name\}", re.escape(name))
    found = re.fullmatch(text.replace(r"\{version\}", _VERSION), tag)
    return found["version"] if found and is_version(found["version"]) else ""
