"""
The links, the title and the base of a page, without its tree.

The text is read once, from token to token. Where a parser could make anything else of a tag than
the element that is written there, the page is left to the parser: an anchor that is not closed in
its place may be opened again later, and an element between the cells of a table is moved.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import cast

from ..data import Response
from ..html_tokens import (
    AFTER_NAME,
    BLANK,
    BOGUS_COMMENT,
    COMMENT,
    NAME,
    NO_MARKUP,
    RAW_TEXT,
    TAG_END,
    attributes,
    compiled,
    foreign,
    raw_text,
)
from .character_references import decoded, decoded_text
from .link_elements import Attributes, Element
from .open_paragraph import OpenParagraph
from .turns import in_parts, in_turns

#: The elements that a scan finds; it leaves pages with a ``frame`` to the parser.
SCANNED = frozenset({"a", "area", "base", "frame", "iframe", "meta"})
#: Tags after which a table has no element but those of tables.
_BETWEEN_CELLS = "col(?:group|)|t(?:body|foot|head|r)"
_AFTER_CELLS = f"caption|{_BETWEEN_CELLS}|t[dh]"
_IN_TABLE = (
    rf"(?:(?:table|{_BETWEEN_CELLS})|/(?:{_AFTER_CELLS})){AFTER_NAME}{TAG_END}[^<]*+"
    rf"(?=<(?:!--|(?:/?+(?:table|{_AFTER_CELLS}|form)|script|style){AFTER_NAME}))"
)
_NO_TAG = rf"{COMMENT}|{BOGUS_COMMENT}|{NO_MARKUP}"
#: Elements that an anchor may contain, if each of them is closed there.
_INLINE = (
    "span|code|b|i|em|strong|abbr|acronym|bdi|bdo|big|cite|data|del|dfn|font|ins|kbd|label|mark"
    "|picture|q|s|samp|small|strike|sub|sup|time|tt|u|var"
)


#: Elements that it may contain if no paragraph is open around it: they would end that.
_BLOCK = "article|blockquote|div|fig(?:caption|ure)|footer|h[1-6]|header|p|section"


def _content(names: str, depth: int) -> str:
    """Match the content of an anchor, with elements called *names* that nest up to *depth*."""
    inside = rf"(?:br|img|source|wbr){AFTER_NAME}{TAG_END}|{_NO_TAG}"
    if depth:
        inside += f"|{foreign('svg')}"
        name = f"name{depth}_{len(names)}"
        inside += (
            rf"|(?=(?:{names}){AFTER_NAME})(?P<{name}>[a-z][a-z1-6]*+){TAG_END}"
            rf"{_content(names, depth - 1)}</(?P={name})>"
        )
    return rf"[^<]*+(?:<(?!/[a-z])(?:{inside})[^<]*+)*+"


_END = rf"(?:(?=</?+a{AFTER_NAME})|\Z)"
_CLOSED = rf"[^<]*+(?=</a>)|{_content(_INLINE, 3)}{_END}|(?P<blocks>{_content(f'{_INLINE}|{_BLOCK}', 4)}{_END})"
_PLAIN = rf"""{BLANK}++(?!href=|rel=)[a-z-]++=(?:"[^"]*+"|'[^']*+'|[^\t\n\f\r >"']++)"""
#: A start tag without an href: it does not matter what becomes of the element.
_NO_LINK = rf"a(?:{_PLAIN})*+{BLANK}*+>"
#: An anchor like most, with a simple href and without a rel; or any other.
_ANCHOR = (
    rf"""a(?:(?:{_PLAIN})*+{BLANK}++href=(?![\t\n\f\r >])(?P<quote>["']|)(?P<href>[^\t\n\f\r >"']*+)(?P=quote)"""
    rf"(?:{_PLAIN})*+{BLANK}*+>|{AFTER_NAME}(?P<anchor>{TAG_END}))(?:{_CLOSED}|(?P<open>))"
)
_VOID = rf"(?P<name>area|base|meta){AFTER_NAME}(?P<attributes>{TAG_END})"
_FRAME = raw_text("iframe", end_of_tag="?P<frame>")
_TITLE = raw_text("title", content="?P<title>")
_SELECT = (
    rf"select{AFTER_NAME}{TAG_END}[^<]*+"
    rf"(?:<(?:/?+opt(?:ion|group){AFTER_NAME}{TAG_END}|{COMMENT})[^<]*+)*+</select>"
)
#: Start tags that are not simply passed over, by their first letters.
_SPECIAL = (
    r"a(?:rea|)|base|col(?:group|)|frame(?:set|)|iframe|m(?:ath|eta)|no(?:embed|frames)|plaintext"
    r"|s(?:cript|elect|tyle|vg)|t(?:able|body|emplate|extarea|foot|head|itle|r)|xmp"
)
_NAME = r"[^\t\n\f\r />A-Z]*+"
#: Tags whose first letter tells that they are passed over: most of them.
_QUICK = rf"(?:[deghj-loqru-wyzDEGHJ-LOQRU-WYZ]|/[abd-su-zABD-SU-Z]){NAME}{TAG_END}"
_PASSED = (
    rf"{_QUICK}|(?!(?:{_SPECIAL}){AFTER_NAME})[a-z]{_NAME}{TAG_END}"
    rf"|/(?!(?:{_AFTER_CELLS}){AFTER_NAME})[a-z]{_NAME}{TAG_END}"
    rf"|{_NO_LINK}|{_IN_TABLE}|{_NO_TAG}|{foreign('svg')}|{foreign('math')}|{_SELECT}"
    rf"|{'|'.join(raw_text(name) for name in RAW_TEXT if name not in {'iframe', 'title'})}"
)
#: What the value and the name of an attribute of a ``meta`` element have, as they are written, if
#: the element may say nofollow or lead to another page. A name has no character references.
_MATTERS = re.compile(r"robots|refresh|&", re.IGNORECASE)
_NAMED = re.compile(r"name|http-equiv", re.IGNORECASE)
#: What one of these attributes has if the element does matter.
_KIND = re.compile(r"robots|refresh", re.IGNORECASE)
#: How many tags are passed over before other greenlets have their turn.
_SOME = 64
#: What is next is passed over in the next token, or a parser is needed for it.
_STOP = r"(?P<stop>)"
_TOKEN = (
    rf"[^<]*+(?:<(?:{_PASSED})[^<]*+){{0,{_SOME}}}+"
    rf"(?:<(?:{_ANCHOR}|{_VOID}|{_TITLE}|{_FRAME})|\Z|{_STOP})"
)
_TOKEN_IN_ANY_CASE = _TOKEN.replace(_NAME, NAME)


class _Unsure(Exception):
    """Only a parser knows what becomes of the page."""


class Scan:
    """
    The elements of a page that are in `SCANNED`, in document order, and its first title.

    A ``meta`` element that neither says nofollow nor leads to another page may be left out.
    """

    def __init__(self) -> None:
        self.title: str | None = None
        self.found: list[Element] = []
        #: Those that are void: ``area``, ``base`` and ``meta``.
        self.void: list[tuple[str, Attributes]] = []

    @property
    def base(self) -> str | None:
        """The href of the first ``base`` that has one."""
        given = (base["href"] or "" for base in self.attributes("base") if "href" in base)
        return next(given, None)

    def add_void(self, name: str, given: Attributes) -> None:
        self.void.append((name, given))
        self.found.append(self.void[-1])

    def elements(self, tags: Collection[str], _: object = None) -> Iterator[list[Element]]:
        """Yield lists of the elements called *tags*, in document order."""
        has_anchors = "a" in tags
        for part in in_parts(self.found):
            yield [
                found for found in part if (has_anchors if type(found) is str else found[0] in tags)
            ]

    def attributes(self, tag: str) -> list[Attributes]:
        """Return the attributes of the void elements called *tag*."""
        return [attributes for name, attributes in self.void if name == tag]


def scan_of(response: Response) -> Scan | None:
    """Return the scan of *response*, which is kept with it; None if only a parser can tell."""
    kept = vars(response)
    if "_scan" not in kept:
        # Null is looked for in the body: that takes a fortieth of the time it takes in the text.
        kept["_scan"] = None if b"\0" in response.body else scan(response.text)
    return cast("Scan | None", kept["_scan"])


def scan(html: str) -> Scan | None:
    """Return what the tree of *html*, without null, would have; None if only a parser can tell."""
    scanned = Scan()
    try:
        for _ in in_turns(_tokens_read(html, scanned)):
            pass
    except _Unsure:
        return None
    return scanned


def _tokens_read(html: str, scanned: Scan) -> Iterator[None]:
    """Add what *html* holds to *scanned*, and yield after each token."""
    paragraph = OpenParagraph(html)
    lower_case = compiled(_TOKEN, any_case=False)
    in_href, *unlike_most = map(lower_case.groupindex.__getitem__, ("href", "open", "blocks"))
    place = 0
    while place < len(html):
        for token in lower_case.finditer(html, place):
            href, group = token[in_href], token.lastindex
            if href is not None and group not in unlike_most:
                scanned.found.append(decoded(href) if "&" in href else href)
            elif group is not None and not _is_read(token, scanned, paragraph):
                place = token.start()
                break
            yield
        else:
            return
        # The other pattern takes three times as long, and few tokens need it.
        any_token = compiled(_TOKEN_IN_ANY_CASE).match(html, place)
        if any_token is None or not _is_read(any_token, scanned, paragraph):
            raise _Unsure
        place = any_token.end()
        yield


def _is_read(token: re.Match[str], scanned: Scan, paragraph: OpenParagraph) -> bool:
    """Add what *token* holds; return False if it may be something else to a parser."""
    frame, title, name, stop = token.group("frame", "title", "name", "stop")
    if stop is not None:
        return token.start() < token.end()
    if title is not None:
        if scanned.title is None:
            scanned.title = decoded_text(title) if "&" in title else title
    elif frame is not None:
        scanned.found.append(("iframe", _attributes(frame)))
    elif name is not None:
        written = token["attributes"]
        if name.lower() != "meta":
            scanned.add_void(name.lower(), _attributes(written))
        elif _MATTERS.search(written) and _NAMED.search(written):
            given = _attributes(written)
            if _KIND.search(f"{given.get('name')} {given.get('http-equiv')}"):
                scanned.add_void("meta", given)
    elif token.lastindex is not None:
        return _is_anchor_read(token, scanned, paragraph)
    return True


def _is_anchor_read(token: re.Match[str], scanned: Scan, paragraph: OpenParagraph) -> bool:
    href, anchor, is_open, blocks = token.group("href", "anchor", "open", "blocks")
    element: Element = ("a", _attributes(anchor)) if href is None else decoded(href)
    if href is None and "href" not in element[1]:
        pass  # no link: it does not matter what becomes of it
    elif is_open is not None or (blocks is not None and paragraph.may_be_at(token.start("blocks"))):
        return False
    scanned.found.append(element)
    return True


def _attributes(written: str) -> Attributes:
    """Return the attributes in *written*, the text of a tag after its name."""
    given = attributes(written[:-1])
    for name, value in given.items():
        if "&" in value or "\r" in value:
            given[name] = decoded(value)
    return given
