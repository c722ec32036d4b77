"""Whether a paragraph is open at a place of a page: a block that begins there would end it."""

from __future__ import annotations

from ..html_tokens import AFTER_NAME, NAME, NO_TAG, RAW_START, TAG_END, compiled
from .html_flattening import AFTER_PARAGRAPH

#: The next paragraph, or the end; anything that is neither is the rest.
_NEXT = (
    rf"[^<]*+(?:<(?:{NO_TAG}|(?!{RAW_START}|p{AFTER_NAME})/?+[a-z]{NAME}{TAG_END})[^<]*+)*+"
    rf"(?:<(?P<paragraph>p{AFTER_NAME}{TAG_END})|\Z|(?P<rest>[\s\S])[\s\S]*+)"
)
#: Elements in which a block does not end the paragraph around them.
_AROUND = "applet|button|caption|marquee|math|object|select|svg|table|t[dh]|template|form"
_BLOCK = "|".join(sorted(AFTER_PARAGRAPH - {"form"}))
_END = (
    rf"[^<]*+(?:<(?:{NO_TAG}|(?!{RAW_START}|(?:/p|{_BLOCK}|/?+(?:{_AROUND})){AFTER_NAME})"
    rf"/?+[a-z]{NAME}{TAG_END})[^<]*+)*+<(?:/p|{_BLOCK}){AFTER_NAME}"
)


class OpenParagraph:
    """Reads *html* once, however often it is asked about later and later places."""

    def __init__(self, html: str) -> None:
        self._html = html
        self._read = 0

    def may_be_at(self, place: int) -> bool:
        """Return whether a paragraph may be open at *place*; after a yes, every answer is yes."""
        for found in compiled(_NEXT).finditer(self._html, self._read, place):
            begun = found["paragraph"] is not None
            if found["rest"] is not None or (begun and not self._ends(found.end(), place)):
                return True
        self._read = place
        return False

    def _ends(self, begin: int, place: int) -> bool:
        return compiled(_END).match(self._html, begin, place) is not None
