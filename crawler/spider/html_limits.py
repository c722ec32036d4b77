"""
Text of HTML that every parser reads in linear time.

At many tags a parser walks through all open elements; it compares each attribute of a tag with
all before it; and it opens formatting elements that were never closed again in each new block. A
page can be made of these so that a kilobyte takes a second. Ordinary pages are left as they are:
one pass over the text shows that they take little time, however their tags nest.
"""

from __future__ import annotations

import re
from collections import Counter

from ..html_tokens import (
    AFTER_NAME,
    NAME,
    NO_TAG,
    RAW_START,
    RAW_TEXT,
    TAG_END,
    compiled,
    foreign,
)
from .html_flattening import AFTER_PARAGRAPH, DEEPEST, FORMATTING, VOID, flattened
from .turns import in_turns

#: A page of at most so many characters is too short to take long.
_SHORT = 1000
#: The characters that a page must have for each pair of tags, and the elements that it may have
#: for each character: with these, the parser takes 0.3 s a megabyte at worst.
_PAIRS, _ELEMENTS = 200, 1.5
#: No text has a "<" in so few characters unless it was made to be deep.
_DENSE = 5
#: How many formatting elements with the same attributes are open at once; parsers drop others.
_SAME = 3

#: Tokens that are read at a time; then others have their turn.
_MANY = 500
_NAMES = "|".join(sorted(FORMATTING))
_NAME = r"[^\t\n\f\r />A-Z]*+"


def _closed(names: str, content: str, group: int) -> str:
    """Match an element after its "<", with its end tag; *group* is the number of its name."""
    return rf"(?=(?:{names}){AFTER_NAME})([a-z]++){TAG_END}{content}</\{group}>"


_IN_LINE = f"a|abbr|cite|kbd|q|samp|span|sub|sup|var|{_NAMES}"
_TEXT = rf"[^<]*+(?:<{_closed(_IN_LINE, '[^<]*+', 2)}[^<]*+)*+"
#: Everything but a formatting element that holds more than text and such elements. What may
#: change how the text after it is read (plaintext, drawings with HTML in them) is not matched.
_OTHERS = (
    rf"[^<]*+(?:<(?:/[a-z]{_NAME}{TAG_END}"
    rf"|(?!(?:{_NAMES}|{'|'.join(RAW_TEXT)}|plaintext|svg|math){AFTER_NAME})[a-z]{_NAME}{TAG_END}"
    rf"|{_closed(_NAMES, _TEXT, 1)}"
    rf"|{NO_TAG}|{foreign('svg')}|{foreign('math')})[^<]*+){{1,{_MANY}}}+|[^<]++"
)
_OPENED = rf"{_OTHERS}|<((?:{_NAMES}){AFTER_NAME}{TAG_END})|\Z|([\s\S])[\s\S]*+"
_OPENED_IN_ANY_CASE = _OPENED.replace(_NAME, NAME)
#: Elements that end where the next one begins, or where what is around them ends.
_BEFORE = {"dd": ("dd", "dt"), "dt": ("dd", "dt"), "li": ("li",)}
_WITHOUT_END = frozenset({"p", *_BEFORE})
#: A tag, after what opens no element.
_TAG = (
    rf"[^<]*+(?:<(?:(?:{'|'.join(VOID)}){AFTER_NAME}{TAG_END}|{_closed('a|div|li|p|span|td', '[^<]*+', 1)}"
    rf"|{NO_TAG}|{foreign('svg')}|{foreign('math')})[^<]*+)*+"
    rf"(?:<(?!{RAW_START})(/?+)([a-z]{NAME}){TAG_END}|\Z|([\s\S])[\s\S]*+)"
)
_NARROW = rf"[^<]*+(?:<(?:{NO_TAG}|(?!{RAW_START})/?+[a-z]{NAME}{TAG_END})[^<]*+)*+"


def flatten(html: str) -> str:
    """
    Return *html*, without the tags that a parser would take long for.

    The text between the tags stays, and so do all links.
    """
    if len(html) <= _SHORT:
        return html
    tags = html.count("<")
    is_cheap = _is_shallow(html, tags) and _opens_few(html, tags)
    return html if is_cheap else flattened(html)


def _is_shallow(html: str, tags: int) -> bool:
    """Return whether a page has few tags for its length, or they do not nest deep."""
    return tags * tags <= _PAIRS * len(html) or not _is_deep(html, tags)


def _opens_few(html: str, tags: int) -> bool:
    """Return whether few formatting elements are open at once, and no tag is too wide."""
    opened = _opened(compiled(_OPENED, any_case=False), html)
    if opened is None:
        opened = _opened(compiled(_OPENED_IN_ANY_CASE), html)
    return opened is not None and tags * (2 + opened) <= _ELEMENTS * len(html)


def _opened(pattern: re.Pattern[str], html: str) -> int | None:
    """
    Return how many formatting elements can be open at once; None if that is not known.

    None also stands for a tag with too many attributes.
    """
    counted = Counter[str]()
    for found in in_turns(pattern.finditer(html)):
        tag, unknown = found.group(3, 4)
        if tag is not None:
            counted[tag] += 1
        elif unknown is not None:
            return None
    return sum(min(number, _SAME) for number in counted.values())


def _is_deep(html: str, tags: int) -> bool:
    """
    Return whether elements may be nested deeper than DEEPEST.

    An element counts as closed only by its end tag, right after the end of what is in it: there
    every parser has closed it, whatever else it did. Paragraphs and entries of lists end without
    an end tag too, but not inside each other, so they can at most double the depth.
    """
    if tags * _DENSE > len(html):
        return True
    stack = ["", ""]
    for token in in_turns(compiled(_TAG).finditer(html)):
        end, name, unknown = token.group(2, 3, 4)
        if name is None:
            return unknown is not None
        name = name.lower()
        if not end:
            _drop_ended(stack, name)
            stack.append(name)
            if len(stack) > DEEPEST:
                return True
        elif stack[-1] == name != "form":
            del stack[-1]
        elif stack[-1] in _WITHOUT_END and stack[-2] == name != "form":
            del stack[-2:]
    return False


def _drop_ended(stack: list[str], name: str) -> None:
    """Drop the last element if the start tag *name* ends it."""
    if stack[-1] == "p" and name in AFTER_PARAGRAPH:
        del stack[-1]
    if stack[-1] in _BEFORE.get(name, ()):
        del stack[-1]


def narrow(html: str) -> str:
    """
    Return *html* for selectors: with few attributes in a tag, and elements that do not nest deep.

    ``div a`` looks for each link in every ``div`` around it.
    """
    if len(html) <= _SHORT:
        return html
    is_cheap = _is_shallow(html, html.count("<")) and compiled(_NARROW).fullmatch(html)
    return html if is_cheap else flattened(html)
