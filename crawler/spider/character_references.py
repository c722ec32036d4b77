"""Character references in HTML, such as ``&amp;`` and ``&#8217;``: replaced as a parser does."""

from __future__ import annotations

import re
from html.entities import html5

from .html_tree import parse

#: A reference that means the same everywhere. The numbers are those of characters that a parser
#: keeps: it replaces some below 160, and those of surrogates.
_PLAIN = re.compile(r"&(?:#([2-9][0-9]{2}|[1-4][0-9]{3})|([a-zA-Z][a-zA-Z0-9]*+));")


def decoded(value: str) -> str:
    """Replace the character references and the ends of lines in the *value* of an attribute."""
    plain = _plainly_decoded(value)
    if plain is None:
        quoted = value.replace('"', "&quot;")
        return parse(f'<p title="{quoted}">').tags("p")[0].attributes["title"] or ""
    return plain


def decoded_text(title: str) -> str:
    """Replace the character references in the content of a ``title``."""
    plain = _plainly_decoded(title)
    return parse(f"<title>{title}</title>").tags("title")[0].text() if plain is None else plain


def _plainly_decoded(text: str) -> str | None:
    """Return *text* without its references; None if one of them is not a plain one."""
    if "\r" in text:
        return None
    references = text.count("&")
    if references == text.count("&amp;"):
        return text.replace("&amp;", "&")
    replaced, plain = _PLAIN.subn(_character, text)
    return replaced if plain == references and "\0" not in replaced else None


def _character(reference: re.Match[str]) -> str:
    """Return the character; null for a name that no character has."""
    number, name = reference.groups()
    return chr(int(number)) if number else html5.get(f"{name};", "\0")
