"""Character references in HTML, such as ``&amp;`` and ``&#8217;``: replaced as a parser does."""

from __future__ import annotations

import re
from html.entities import html5

from .html_tree import parse

#: A reference in an attribute. Without a semicolon, a name before a letter, a digit or "=" is text.
_REFERENCE = re.compile(
    r"&(?:#(?:[xX]([0-9a-fA-F]++)|([0-9]++));?+|([a-zA-Z][a-zA-Z0-9]*+)(?!=)(;?+))"
)
#: The name of a reference with what ends it. In text, the beginning of a name may be one too.
_NAME = re.compile(r"&([a-zA-Z][a-zA-Z0-9]*+(?:[^a-zA-Z0-9]|\Z))")
#: Numbers that stand for other characters, as in Windows-1252; and what stands for no character.
_WINDOWS = {
    number: character
    for number in range(0x80, 0xA0)
    if (character := bytes([number]).decode("cp1252", "ignore"))
}
_LAST, _SURROGATES, _NOT_A_CHARACTER = 0x10FFFF, range(0xD800, 0xE000), "\ufffd"
#: No number of a character has more digits.
_MOST_DIGITS = 7


def decoded(value: str) -> str:
    """Replace the character references and the ends of lines in the *value* of an attribute."""
    if "\r" in value:
        value = value.replace("\r\n", "\n").replace("\r", "\n")
    if value.count("&") == value.count("&amp;"):
        return value.replace("&amp;", "&")
    return _REFERENCE.sub(_character, value)


def decoded_text(title: str) -> str:
    """Replace the character references in the content of a ``title``."""
    if all(name in html5 for name in _NAME.findall(title)):
        return decoded(title)
    return parse(f"<title>{title}</title>").tags("title")[0].text()


def _character(reference: re.Match[str]) -> str:
    hexadecimal, decimal, name, end = reference.groups()
    if name is not None:
        return html5.get(name + end, reference[0])
    digits = (hexadecimal or decimal).lstrip("0") or "0"
    if len(digits) > _MOST_DIGITS:
        return _NOT_A_CHARACTER
    return _numbered(int(digits, 16 if hexadecimal else 10))


def _numbered(number: int) -> str:
    if not number or number > _LAST or number in _SURROGATES:
        return _NOT_A_CHARACTER
    return _WINDOWS.get(number) or chr(number)
