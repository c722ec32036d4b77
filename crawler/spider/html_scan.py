"""
The links, the title and the base of a page, without its tree.

The bytes are read once, from token to token. Where a parser could make anything else of a tag than
the element that is written there, the page is left to the parser: an anchor that is not closed in
its place may be opened again later, and an element between the cells of a table is moved.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TypeAlias, cast

from ..data import Response
from ..html_tokens import (
    AFTER_NAME,
    ANY_TAG_END,
    BLANK,
    BOGUS_COMMENT,
    COMMENT,
    NAME,
    NO_MARKUP,
    TAG_END,
    attributes,
    compiled_for_bytes,
    foreign,
    raw_text,
)
from .character_references import decoded, decoded_text
from .link_elements import Attributes, Element
from .open_paragraph import may_end_in_a_link
from .turns import in_parts, in_turns

#: The elements that a scan finds; it leaves pages with a ``frame`` to the parser.
SCANNED = frozenset({"a", "area", "base", "frame", "iframe", "meta"})
_NO_TAG = rf"{COMMENT}|{BOGUS_COMMENT}|{NO_MARKUP}"
#: Tags after which a table has no element but those of tables.
_CELLS = "c(?:aption|ol(?:group|))|t(?:body|[dhr]|foot|head)"
_IN_TABLE = (
    rf"(?:/t[dhr]|tr){AFTER_NAME}{ANY_TAG_END}[^<]*+(?=</?+t[dhr]{AFTER_NAME})"
    rf"|(?:/(?ai:{_CELLS})|[tT](?ai:r|able|body|foot|head)|[cC](?ai:ol(?:group|))){AFTER_NAME}"
    rf"{ANY_TAG_END}[^<]*+(?:<(?:{COMMENT}|{raw_text('script')}|{raw_text('style')})[^<]*+)*+"
    rf"(?=</?+(?ai:{_CELLS}|table|form){AFTER_NAME})"
)
#: Elements that an anchor may contain, if each of them is closed there.
_INLINE = (
    "span|code|b|i|em|strong|abbr|acronym|bdi|bdo|big|cite|data|del|dfn|font|ins|kbd|label|mark"
    "|picture|q|s|samp|small|strike|sub|sup|time|tt|u|var"
)
#: Elements that it may contain if no paragraph is open around it: they would end that.
_BLOCK = "article|blockquote|div|fig(?:caption|ure)|footer|h[1-6]|header|p|section"


_VALUE = r"""(?:"[^"]*+"|'[^']*+'|[^\t\n\f\r >"']++)"""
#: The end of a tag with attributes as almost all have them.
_TAG_END = rf"""(?:>|(?:{BLANK}++[^\t\n\f\r />="'<]++(?:={_VALUE})?+)*+[\t\n\f\r /]*+>)"""


def _content(depth: int) -> str:
    """Match the content of an anchor, with elements that nest up to *depth*."""
    inside = rf"(?ai:br|img|source|wbr){AFTER_NAME}{_TAG_END}|{_NO_TAG}"
    if depth:
        inside += (
            rf"|(?=(?ai:{_INLINE}|(?P<block{depth}>{_BLOCK})){AFTER_NAME})"
            rf"(?P<name{depth}>[a-zA-Z][a-zA-Z1-6]*+){_TAG_END}"
            rf"{_content(depth - 1)}</(?P=name{depth})>|{foreign('svg', _TAG_END)}"
        )
    return rf"[^<]*+(?:<(?!/[a-zA-Z]|[aA]{AFTER_NAME})(?:{inside})[^<]*+)*+"


#: How deep elements nest in an anchor; each level makes the pattern longer to compile.
_DEEPEST = 4
_CLOSED = rf"(?:[^<]*+</[aA]>|{_content(_DEEPEST)}(?=</?+[aA]{AFTER_NAME}))"
#: An attribute without which an anchor would be the same link. "nofollow" has a "w".
_PLAIN = (
    rf"{BLANK}++(?:(?:[a-gi-qs-zA-GI-QS-Z-]|[hH](?!(?ai:ref)[^a-zA-Z-])|[rR](?!(?ai:el)[^a-zA-Z-]))"
    rf"[a-zA-Z-]*+(?:={_VALUE}|(?!{BLANK}*+=))"
    r"""|(?ai:rel)=(?:"[^"&wW]*+"|'[^'&wW]*+'|[^\t\n\f\r >"'&wW]++))"""
)
#: An anchor like most, with a simple href, which is read with the quote before it; or one without
#: a link, for which it does not matter what becomes of the element; or any other.
_ANCHOR = (
    rf"[aA](?:(?:{_PLAIN})*+(?:{BLANK}++(?:href|(?ai:href))=(?P<href>{_VALUE})"
    rf"(?:{_PLAIN})*+[\t\n\f\r /]*+>|[\t\n\f\r /]*+>(?P<bare>))"
    rf"|{AFTER_NAME}(?P<anchor>{TAG_END}))(?(bare)|{_CLOSED})"
)
#: A ``meta`` element that neither says nofollow nor leads to another page: "robots" has a "b", and
#: "refresh" an "f".
_META = (
    rf"""meta(?:{BLANK}++(?:(?:name|http-equiv)="[^"&bBfF]*+\""""
    r"""|(?!(?ai:name|http-equiv))[a-z:-]++="[^"]*+"))*+[\t\n\f\r /]*+>"""
)
_VOID = rf"(?P<void>(?ai:area|base|meta){AFTER_NAME}{TAG_END})"
_FRAME = raw_text("iframe", end_of_tag="?P<frame>")
#: The content of a title, with the "<" after it.
_TITLE = raw_text("title", content="?P<title>")
_SELECT = (
    rf"(?ai:select){AFTER_NAME}{_TAG_END}[^<]*+"
    rf"(?:<(?:/?+(?ai:opt(?:ion|group)){AFTER_NAME}{_TAG_END}|{COMMENT})[^<]*+)*+</(?ai:select)>"
)
#: Start tags that are not simply passed over.
_SPECIAL = (
    r"area|base|col(?:group|)|frame(?:set|)|iframe|m(?:ath|eta)|no(?:embed|frames)|plaintext"
    r"|s(?:cript|elect|tyle|vg)|t(?:able|body|emplate|extarea|foot|head|itle|r)|xmp"
)
#: Tags whose first letters tell that they are passed over: most of them.
_QUICK = (
    rf"/[abd-su-zABD-SU-Z]{NAME}>|span{AFTER_NAME}{ANY_TAG_END}[^<]*+(?:</span>)?+"
    r"|(?:/[abd-su-zABD-SU-Z]|[deghj-loqru-wyz]|s(?:[ahlmopuw]|t(?!y)|e(?!l))|i(?!f)|b(?!as)"
    r"|c(?!ol)|f(?!r)|t[dh](?![a-z])|n(?!o[ef])|m(?!at|et)|p(?!l)|x(?!m)|a(?!re)[b-z])"
    rf"{NAME}{ANY_TAG_END}"
)
_PASSED = (
    rf"{_QUICK}|[aA]>|(?![aA]{AFTER_NAME})(?:{_IN_TABLE}|{_NO_TAG}"
    rf"|(?!(?ai:/(?:{_CELLS})|{_SPECIAL}){AFTER_NAME})/?+[a-zA-Z]{NAME}{ANY_TAG_END}"
    rf"|{_META}|{foreign('svg', ANY_TAG_END)}|{foreign('math', _TAG_END)}|{_SELECT}"
    rf"|{'|'.join(map(raw_text, ('script', 'style', 'textarea', 'noframes')))})"
)
#: What the name and the value of an attribute of a ``meta`` element have if the element may say
#: nofollow or lead to another page. A name has no character references.
_NAMED = re.compile(r"name|http-equiv", re.IGNORECASE)
_KIND = re.compile(r"robots|refresh", re.IGNORECASE)
#: What is next after the tags that are passed over; or the rest of the page, if that is unsure.
_TOKEN = (
    rf"[^<]*+(?:<(?:{_PASSED})[^<]*+)*+"
    rf"(?:<(?:{_ANCHOR}|{_VOID}|{_TITLE}|{_FRAME})|\Z|(?P<rest>(?s:.++)))"
)
#: A page of more bytes is read in parts of about so many, and others have their turn after each.
_PART = 1 << 16
#: Tokens that are taken apart at a time.
_SOME = 1 << 10
#: What is read of tokens: a sequence for each group, empty where a token is another one.
_GROUPS = ("href", "anchor", "void", "frame", "title")
_BLOCKS = tuple(f"block{depth}" for depth in range(1, _DEEPEST + 1))
_Columns: TypeAlias = tuple[Sequence[bytes], ...]
_Token: TypeAlias = tuple[bytes, ...]


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
        self._has_others = False

    @property
    def base(self) -> str | None:
        """The href of the first ``base`` that has one."""
        given = (base["href"] or "" for base in self.attributes("base") if "href" in base)
        return next(given, None)

    def elements(self, tags: Collection[str], _: object = None) -> Iterator[Sequence[Element]]:
        """Yield lists of the elements called *tags*, in document order."""
        has_anchors = "a" in tags
        for part in in_parts(self.found):
            if has_anchors and not self._has_others:
                yield part
                continue
            yield [
                found for found in part if (has_anchors if type(found) is str else found[0] in tags)
            ]

    def attributes(self, tag: str) -> list[Attributes]:
        """Return the attributes of the void elements called *tag*."""
        return [attributes for name, attributes in self.void if name == tag]

    def add(self, found: _Columns) -> None:
        """Add the elements that were *found*."""
        written, anchors, voids, frames, titles = found[: len(_GROUPS)]
        hrefs = _hrefs(written)
        if any(anchors) or any(voids) or any(frames):
            self._has_others = True
            self._add_all(zip(written, anchors, voids, frames, strict=True), iter(hrefs))
        else:
            self.found += hrefs
        if self.title is None and any(titles):
            self.title = decoded_text(_text(next(filter(None, titles))[:-1]))

    def _add_all(self, rows: Iterable[tuple[bytes, ...]], hrefs: Iterator[str]) -> None:
        """Add elements of all kinds, in their order; *hrefs* are those of plain anchors."""
        for href, anchor, void, frame in rows:
            if href:
                self.found.append(next(hrefs))
            elif anchor:
                self.found.append(("a", _attributes(_text(anchor))))
            elif void:
                self._add_void(_text(void))
            elif frame:
                self.found.append(("iframe", _attributes(_text(frame))))

    def _add_void(self, tag: str) -> None:
        name = tag[:4].lower()
        if name == "meta" and not (_NAMED.search(tag) and _KIND.search(decoded(tag))):
            return
        given = _attributes(tag[4:])
        if name != "meta" or _KIND.search(f"{given.get('name')} {given.get('http-equiv')}"):
            self.void.append((name, given))
            self.found.append(self.void[-1])


def scan_of(response: Response) -> Scan | None:
    """Return the scan of *response*, which is kept with it; None if only a parser can tell."""
    kept = vars(response)
    if "_scan" not in kept:
        is_utf_8 = response.encoding == "utf-8"
        kept["_scan"] = scan(response.body if is_utf_8 else response.text.encode())
    return cast("Scan | None", kept["_scan"])


def scan(html: bytes) -> Scan | None:
    """Return what the tree of *html*, in UTF-8, would have; None if only a parser can tell."""
    scanned = Scan()
    has_blocks = False
    try:
        for found in _parts(html):
            scanned.add(found)
            has_blocks = has_blocks or any(map(any, found[len(_GROUPS) :]))
    except _Unsure:
        return None
    return None if has_blocks and may_end_in_a_link(html) else scanned


def _parts(html: bytes) -> Iterator[_Columns]:
    """Yield the tokens of a page, in parts."""
    if b"\0" in html:
        raise _Unsure
    windows = _windows(html)
    for found in in_turns(windows, every=1) if len(html) > _PART else windows:
        for some in range(0, len(found), _SOME):
            yield _columns([*zip(*found[some : some + _SOME], strict=True)])


def _windows(html: bytes) -> Iterator[list[_Token]]:
    """Yield the tokens of one part of the page after the other."""
    place, size = 0, _PART
    while place < len(html):
        end = min(place + size, len(html))
        while end < len(html) and html.startswith(b"<", end - 1, end):
            end += 1  # whether it begins a tag depends on what follows
        found, rest = _tokens(html, place, end)
        if rest and end == len(html):
            raise _Unsure
        if rest < end - place:
            yield found
            place, size = end - rest, _PART
        else:
            size *= 2


def _tokens(html: bytes, place: int, end: int) -> tuple[list[_Token], int]:
    """Return the tokens from *place* to *end*, and the length of what is unsure before the end."""
    found = compiled_for_bytes(_TOKEN).findall(html, place, end)
    return found, max(len(token[-1]) for token in found[-2:])  # the last token is the end


def _hrefs(written: Iterable[bytes]) -> list[str]:
    """Return the values of the hrefs of plain anchors, which are *written* with their quotes."""
    found = b"\0".join(filter(None, written))
    if b"\r" in found or found.count(b"&") != found.count(b"&amp;"):
        plain = "\0".join([_unquoted(href) for href in _text(found).split("\0") if href])
        return decoded(plain).split("\0")
    hrefs = _text(found.replace(b"&amp;", b"&"))
    if found and b"'" not in found:
        return hrefs.replace('"', "").split("\0")
    return [_unquoted(href) for href in hrefs.split("\0") if href]


def _unquoted(value: str) -> str:
    return value[1:-1] if value[0] in "\"'" else value


def _columns(groups: Sequence[Sequence[bytes]]) -> _Columns:
    """Pick those of *groups* that are read."""
    numbers = compiled_for_bytes(_TOKEN).groupindex
    return tuple(groups[numbers[name] - 1] for name in (*_GROUPS, *_BLOCKS))


def _text(written: bytes) -> str:
    return written.decode("utf-8", "replace")


def _attributes(written: str) -> Attributes:
    """Return the attributes in *written*, the text of a tag after its name."""
    given = attributes(written[:-1])
    for name, value in given.items():
        if "&" in value or "\r" in value:
            given[name] = decoded(value)
    return given
