"""Media types and file name extensions, as Python itself knows them: the same on every machine."""

from __future__ import annotations

from functools import cache
from mimetypes import MimeTypes


def media_type(content_type: str) -> str:
    """Return the type in the value of a Content-Type, without its parameters."""
    return content_type.partition(";")[0].strip().lower()


def extension_of(content_type: str) -> str:
    """Return the extension for a known media type, such as ".png"; "" for any other."""
    return known_types().guess_extension(media_type(content_type), strict=False) or ""


@cache
def known_types() -> MimeTypes:
    return MimeTypes()
