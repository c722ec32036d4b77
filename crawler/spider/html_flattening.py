"""
HTML rewritten so that its tags nest: each element that is opened is closed, and none is too deep.

Parsers read such a text in linear time. An element is closed where a parser would close it (a
paragraph by the next one, a cell by the next row), but formatting ends with its block: the tree
of most pages stays the same.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import islice

from ..html_tokens import (
    AFTER_NAME,
    ATTRIBUTES,
    BOGUS_COMMENT,
    COMMENT,
    MOST_ATTRIBUTES,
    NAME,
    NO_MARKUP,
    NO_TAG,
    RAW_START,
    RAW_TEXT,
    TAG_END,
    compiled,
    first_attributes,
)
from .turns import in_turns


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Tags that nest deeper are left out; the links of such elements are kept.
DEEPEST = 256
#: A page may have a tag in so many characters, and some more; after these, only links are kept.
_DENSEST, _SOME = 60, 2000
#: Tags that are read at a time; then others have their turn.
_MANY = 250
FORMATTING = _words("b big code em font i nobr s small strike strong tt u")
#: Formatting elements that may be open at once.
_MOST_FORMATTING = 16

VOID = _words(
    "area base basefont bgsound br col embed frame hr image img input keygen link meta param"
    " source track wbr"
)
_RAW_TEXT = frozenset(RAW_TEXT)
#: Elements that a page has once, whatever it says.
_ONCE = frozenset({"body", "frameset", "head", "html"})
_LINKS = ("a", "area", "audio", "base", "embed", "form", "frame", "img", "link", "meta", "object")
_LINKING = frozenset({*_LINKS, "source", "track", "video"})
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
#: Elements before which a paragraph ends.
AFTER_PARAGRAPH = _words(
    "address article aside blockquote center dd details dialog dir div dl dt fieldset figcaption"
    " figure footer form header hgroup li listing main menu nav ol p pre search section summary ul"
).union(_HEADINGS)
_ROWS = ("caption", "colgroup", "tbody", "tfoot", "thead", "tr")
_IN_TABLE = frozenset({*_ROWS, "td", "th"})
#: Elements that the tags of elements around them do not close.
_SCOPES = _words("applet button caption marquee math object select svg table td template th")
#: Elements that the end tags of inline elements around them do not close.
_BLOCKS = frozenset({*AFTER_PARAGRAPH, *_SCOPES, *_IN_TABLE})
#: Elements before which a drawing ends, and elements of drawings that could hold them.
_NOT_FOREIGN = _words(
    "b big blockquote body br center code dd div dl dt em embed font head hr i img li listing"
    " menu meta nobr ol p pre ruby s small span strong strike sub sup table tt u ul var"
).union(_HEADINGS)
_FOREIGN = frozenset({"math", "svg"})
_HOLDS_HTML = frozenset({"annotation-xml", "desc", "foreignobject", "title"})

#: Each stands for all elements of a kind; no element can be called so.
_SCOPE, _BLOCK, _FORMAT, _DRAWING = ">scope", ">block", ">format", ">drawing"
_OF_KIND = {_SCOPE: _SCOPES, _BLOCK: _BLOCKS, _FORMAT: FORMATTING, _DRAWING: _FOREIGN}
_KINDS = {
    name: tuple(kind for kind, names in _OF_KIND.items() if name in names)
    for name in frozenset().union(*_OF_KIND.values())
}
_IN_SCOPE, _IN_SAME_TABLE = (_SCOPE,), ("table", "template")
_Rule = tuple[tuple[str, ...], tuple[str, ...]]
_PARAGRAPH: _Rule = (("p",), _IN_SCOPE)
_CELL: _Rule = (("td", "th", "caption", "colgroup"), _IN_SAME_TABLE)
_ROW: _Rule = (("tr",), _IN_SAME_TABLE)
_ROW_GROUP: _Rule = (("tbody", "tfoot", "thead"), _IN_SAME_TABLE)
#: What a start tag closes: the last of some elements, unless one of others was opened in it.
_CLOSES: dict[str, tuple[_Rule, ...]] = {
    **dict.fromkeys(AFTER_PARAGRAPH, (_PARAGRAPH,)),
    **dict.fromkeys(_ROWS, (_ROW_GROUP, _ROW, _CELL)),
    **dict.fromkeys(("td", "th"), (_CELL,)),
    **dict.fromkeys(("dd", "dt"), ((("dd", "dt"), (_SCOPE, "dl")), _PARAGRAPH)),
    **{name: (((name,), _IN_SCOPE),) for name in ("a", "button", "nobr", "option", "select")},
    "li": ((("li",), (_SCOPE, "ol", "ul")), _PARAGRAPH),
    "optgroup": ((("option", "optgroup"), _IN_SCOPE),),
    "table": ((("table",), ("td", "th", "caption", "template")), _PARAGRAPH),
    "tr": (_ROW, _CELL),
}
#: The elements that an end tag does not go beyond.
_CLOSED_WITHIN: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(_BLOCKS, _IN_SCOPE),
    **dict.fromkeys(_IN_TABLE, _IN_SAME_TABLE),
    "table": ("template",),
    "template": (),
}


def _token(leaf: str) -> str:
    """Match text, with elements called *leaf* that hold only text, and the tag after it."""
    text = rf"[^<]++|<(?:{COMMENT}|(?!!\[){BOGUS_COMMENT}|{NO_MARKUP})"
    element = rf"<(?=(?:{leaf}){AFTER_NAME})([a-zA-Z]++){TAG_END}[^<]*+</\2>"
    tag = rf"<(/?+)([a-zA-Z]{NAME})({ATTRIBUTES})>"
    return rf"((?:{text}|{element})*+)(?:{tag}|)"


_TOKEN = _token("abbr|b|cite|code|em|i|kbd|q|s|samp|small|span|strong|sub|sup|tt|u|var")
_FOREIGN_TOKEN = _token("title|desc")
_REST = rf"{ATTRIBUTES}>"
_FLAT = rf"(?:a(?!>)|{'|'.join(_LINKING & VOID)}){AFTER_NAME}{TAG_END}"
_KEPT = rf"[^<]++|<{_FLAT}"
#: Tags whose first letters tell that they are left out: most of them.
_QUICK = (
    r"(?:/[a-z]|[cdghjkoqruvwyz]|b(?!as)|e(?!m)|f(?!r)|i(?![fm])|l(?!in)|m(?!e)|n(?!o)|p(?!l)"
    rf"|s(?!cr|ou|ty)|t(?!e|i|ra)|x(?!m)){NAME}{ATTRIBUTES}>"
)
_LEFT_OUT = rf"<(?:{_QUICK}|{NO_TAG}|(?!{_FLAT}|{RAW_START})[a-z]{NAME}{ATTRIBUTES}>)"
#: Text and links, and what is left out after them; or the rest: raw text, which is kept.
_LINKS_AND_TEXT = (
    rf"((?:{_KEPT}){{1,500}}+)(?:{_LEFT_OUT}){{0,500}}+|(?:{_LEFT_OUT}){{1,500}}+|([\s\S]++)"
)


def flattened(html: str) -> str:
    return "".join(_Flattening(html).parts())


class _Flattening:
    """The text written so far, and the elements that are open in it."""

    def __init__(self, html: str) -> None:
        self._html = html
        self._parts: list[str] = []
        self._open: list[str] = []
        #: The places in the stack of the open elements of a name.
        self._places: defaultdict[str, list[int]] = defaultdict(list)
        self._left_out: Counter[str] = Counter()
        self._once: set[str] = set()
        self._formatting = self._places[_FORMAT]
        self._foreign = self._places[_DRAWING]

    def parts(self) -> list[str]:
        """Read the text to its end and return what was written."""
        html, position = self._html, 0
        for _ in in_turns(range((_SOME + len(html) // _DENSEST) // _MANY), every=1):
            if position >= len(html):
                break
            position = self._read_some(position)
        if position < len(html):
            self._pop(0)
            self._keep_links(position)
        return self._parts

    def _read_some(self, position: int) -> int:
        """Read some tags from *position* on; return where to read on."""
        html, parts, foreign = self._html, self._parts, self._foreign
        token_at, foreign_token_at = compiled(_TOKEN).match, compiled(_FOREIGN_TOKEN).match
        end = len(html)
        for _ in range(_MANY):
            token = foreign_token_at(html, position) if foreign else token_at(html, position)
            assert token is not None  # noqa: S101 - the patterns match every text
            parts.append(token[1])
            position = self._read(token) if token[4] else self._after_odd(token.end())
            if position >= end:
                break
        return position

    def _keep_links(self, position: int) -> None:
        """Write the text and the links from *position* on."""
        found = compiled(_LINKS_AND_TEXT).finditer(self._html, position)
        for some in in_turns(iter(lambda: list(islice(found, _MANY)), []), every=1):
            self._parts += [part[1] or part[2] or "" for part in some]

    def _after_odd(self, position: int) -> int:
        """Return where to read on after what is neither text nor a tag."""
        if not self._html.startswith("<![", position):
            return len(self._html)  # a tag without an end: parsers leave it out
        end = "]]>" if self._foreign else ">"
        found = self._html.find(end, position)
        return found + len(end) if found >= 0 else len(self._html)

    def _read(self, token: re.Match[str]) -> int:
        """Write what becomes of the tag of *token*; return where to read on."""
        slash, written, attributes = token.group(3, 4, 5)
        name = written.lower()
        if slash:
            self._end(name)
            return token.end()
        if len(attributes) > MOST_ATTRIBUTES:
            attributes = first_attributes(attributes)
        tag = f"<{written}{attributes}>"
        if self._foreign and not self._leave_foreign(name):
            self._start_foreign(name, tag)
        elif name in _RAW_TEXT:
            return self._raw_text(name, tag, token.end())
        elif name == "plaintext":
            self._parts.append(self._html[token.end() :].replace("<", "&lt;"))
            return len(self._html)
        elif name in VOID:
            self._parts.append(tag)
        else:
            self._start(name, tag)
        return token.end()

    def _raw_text(self, name: str, tag: str, position: int) -> int:
        end = compiled(rf"</{name}{AFTER_NAME}").search(self._html, position)
        text = self._html[position : end.start() if end else None]
        # Behind "<!--" the next end tag of a script may be text, but only there.
        self._parts += (tag, text.replace("<!--", "<!-") if name == "script" else text)
        self._parts.append(f"</{name}>")
        rest = compiled(_REST).match(self._html, end.end()) if end else None
        return rest.end() if rest else len(self._html)

    def _leave_foreign(self, name: str) -> bool:
        """Close the drawing if *name* cannot be in one; return whether it was closed."""
        if name in _NOT_FOREIGN:
            self._pop(self._foreign[0])
        return name in _NOT_FOREIGN

    def _start_foreign(self, name: str, tag: str) -> None:
        if name in _HOLDS_HTML:
            self._left_out[name] += 1
        elif tag.endswith("/>"):
            self._parts.append(f"{tag[:-2]} ></{name}>")
        else:
            self._push(name, tag)

    def _start(self, name: str, tag: str) -> None:
        for closed, within in _CLOSES.get(name, ()):
            self._close(closed, within)
        if name in _ONCE:
            self._write_once(tag, name)
        elif name in _IN_TABLE and self._last(_IN_SAME_TABLE) < 0:
            pass  # parsers leave it out
        elif name != "form" or not self._places[name]:
            self._push(name, tag)

    def _write_once(self, tag: str, name: str) -> None:
        if name not in self._once:
            self._once.add(name)
            self._parts.append(tag)

    def _end(self, name: str) -> None:
        if name in _ONCE:
            self._write_once(f"</{name}>", f"/{name}")
        elif self._left_out[name]:
            self._left_out[name] -= 1
        elif name == "p" and self._last(("p",)) < max(0, self._last(_IN_SCOPE)):
            self._parts.append("<p></p>")  # as parsers do
        else:
            self._close((name,), _CLOSED_WITHIN.get(name, (_BLOCK,)))

    def _close(self, names: Iterable[str], within: Iterable[str]) -> None:
        """Close the last of *names* that is open, unless one of *within* was opened in it."""
        place = self._last(names)
        if place >= 0 and place >= self._last(within):
            self._pop(place)

    def _last(self, names: Iterable[str]) -> int:
        """Return the place of the last open element called one of *names*, or -1."""
        last = -1
        for name in names:
            places = self._places[name]
            if places and places[-1] > last:
                last = places[-1]
        return last

    def _push(self, name: str, tag: str) -> None:
        if len(self._open) >= DEEPEST or len(self._formatting) >= _MOST_FORMATTING:
            self._left_out[name] += 1
            if name in _LINKING:
                self._parts.append(f"{tag}</{name}>")
            return
        place = len(self._open)
        self._places[name].append(place)
        if name in _KINDS:
            for kind in _KINDS[name]:
                self._places[kind].append(place)
        self._open.append(name)
        self._parts.append(tag)

    def _pop(self, place: int) -> None:
        """Close the elements from *place* on."""
        while len(self._open) > place:
            name = self._open.pop()
            self._places[name].pop()
            if name in _KINDS:
                for kind in _KINDS[name]:
                    self._places[kind].pop()
            self._parts.append(f"</{name}>")
