"""Whether a block inside of a link may end the paragraph around that link."""

from __future__ import annotations

from ..html_tokens import (
    AFTER_NAME,
    NAME,
    NO_TAG,
    RAW_START,
    TAG_END,
    compiled_for_bytes,
    foreign,
)
from .html_flattening import AFTER_PARAGRAPH
from .turns import in_turns

#: Elements in which a block does not end the paragraph around them.
_AROUND = "applet|button|caption|marquee|math|object|select|svg|table|t[dh]|template|form"
_BLOCK = "|".join(sorted(AFTER_PARAGRAPH - {"form"}))
_OTHERS = rf"{NO_TAG}|{foreign('svg')}|{foreign('math')}"
#: Tags of which the first letters tell that they are neither raw text nor paragraphs.
_QUICK = rf"(?:[a-hj-moqru-wyz]|/[a-oq-z]|td|s(?:[ahlmopuw]|t(?!y)|e(?!l))){NAME}{TAG_END}"
_INLINE = rf"(?:/?+(?:b|code|em|i|span|strong|t(?:ime|t)|u)|br|img){TAG_END}"
#: What is neither an anchor nor the end of a paragraph.
_INSIDE = (
    rf"[^<]*+(?:<(?:{_INLINE}|(?!(?ai:{RAW_START}|(?:/p|{_BLOCK}|/?+(?:a|{_AROUND})){AFTER_NAME}))"
    rf"/?+[a-zA-Z]{NAME}{TAG_END}|{_OTHERS})[^<]*+)*+"
)
_LINK = (
    rf"[aA]{AFTER_NAME}{TAG_END}{_INSIDE}"
    rf"(?:</[aA]{AFTER_NAME}{TAG_END}|(?=<(?:/?+[aA]|/[pP]){AFTER_NAME})|\Z)"
)
#: A paragraph without what ends it.
_PARAGRAPH = (
    rf"[pP]{AFTER_NAME}{TAG_END}{_INSIDE}(?:<(?:{_LINK}|/[aA]{AFTER_NAME}{TAG_END}){_INSIDE})*+"
    rf"(?=<(?ai:/p|{_BLOCK}){AFTER_NAME}|\Z)"
)
_SOME = (
    rf"[^<]*+(?:<(?:{_QUICK}|(?!(?ai:{RAW_START}|p{AFTER_NAME}))/?+[a-zA-Z]{NAME}{TAG_END}"
    rf"|{_PARAGRAPH}|{_OTHERS})[^<]*+){{1,64}}+|[^<]++|(?s:(.).*+)"
)


def may_end_in_a_link(html: bytes) -> bool:
    """Return whether a paragraph of *html* may be open where a block begins inside of a link."""
    return any(some[1] is not None for some in in_turns(compiled_for_bytes(_SOME).finditer(html)))
