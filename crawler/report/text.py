"""How figures and untrusted text are written, on a terminal and on a page."""

from __future__ import annotations

from collections.abc import Mapping

from ..credentials import hide_passwords


def printable(text: object) -> str:
    r"""
    Return *text* as one line without control characters and passwords.

    All text from a page, a server or an error passes here before it is printed: an escape sequence
    in a URL or a title becomes visible as \x1b, user:password@ becomes user:…@.
    """
    line = hide_passwords(str(text))
    return line if line.isprintable() else "".join(map(_visible, line))


def printable_lines(text: str) -> str:
    """Return *text* with its line breaks, and each line printable."""
    return "\n".join(map(printable, text.split("\n")))


def _visible(character: str) -> str:
    if character.isprintable():
        return character
    return character.encode("unicode_escape").decode("ascii")


def listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{reason} {n}" for reason, n in counts.items())


def total(reasons: Mapping[str, int]) -> int:
    return sum(reasons.values())


def size(number: float) -> str:
    for unit in ("B", "kB", "MB"):
        if number < 999.5:
            return f"{number:.3g} {unit}"
        number /= 1000
    return f"{number:.3g} GB"


def clock(seconds: float) -> str:
    """Return minutes and seconds, and hours if it is an hour or more: 0:42, 3:20, 1:02:03."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
