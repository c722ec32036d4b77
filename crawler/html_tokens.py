"""
The tokens of HTML as parts of regular expressions (WHATWG, 13.2.5).

Every quantifier is possessive, so a part is left only where it ends. A pattern made of them reads
each character a bounded number of times if it matches at every place of a text, be it the whole
rest of the text: where it did not match, it would be tried again at each later place.

No part has a group. A group in a possessive repeat must not fail after its beginning: the re
module does not restore it then.
"""

from __future__ import annotations

import re
from functools import cache

BLANK = r"[\t\n\f\r ]"
#: What separates attributes.
_SEPARATOR = r"[\t\n\f\r /]"
#: What follows the name of a tag.
AFTER_NAME = r"(?=[\t\n\f\r />])"
#: A name after its first letter.
NAME = r"[^\t\n\f\r />]*+"
_VALUE = r"""(?:"[^"]*+"|'[^']*+'|[^\t\n\f\r >"'][^\t\n\f\r >]*+|(?=>))"""
ATTRIBUTE = rf"[^\t\n\f\r />][^\t\n\f\r />=]*+{BLANK}*+(?:={BLANK}*+{_VALUE}|(?!=))"
ATTRIBUTES = rf"(?:{_SEPARATOR}++|{ATTRIBUTE})*+"
#: Attributes as most tags have them: names of lower case, and values in double quotes.
_SIMPLE = rf"""{BLANK}++[a-z-]++="[^"]*+\""""
#: Parsers compare each attribute with all before it, so a tag with more of them takes long. The
#: first few do not count if they are simple.
MOST_ATTRIBUTES = 512
_OTHERS = rf"(?:{_SEPARATOR}*+{ATTRIBUTE}){{0,{MOST_ATTRIBUTES}}}+{_SEPARATOR}*+"
_FEW_ATTRIBUTES = rf"(?:{_SIMPLE}){{0,38}}+{_OTHERS}"
#: The end of a tag after its name, if the tag has few enough attributes.
TAG_END = rf"(?:>|(?={_SEPARATOR})(?:{_SIMPLE}){{0,38}}+(?:>|{_OTHERS}>))"
#: The end of any tag, where its name ends.
ANY_TAG_END = rf"(?:>|(?:{_SIMPLE})*+(?:>|{ATTRIBUTES}>))"
#: A comment, after its "<".
COMMENT = r"!--(?:-?+>|(?:!>)?+(?:[^>]*+>(?<!-->)(?<!--!>))*+[^>]*+>)"
#: What is read as a comment too: a doctype, an instruction, an end tag without a name.
BOGUS_COMMENT = r"(?:!(?!--)|\?|/(?![a-zA-Z]))[^>]*+>"
#: A "<" that is text; this and the two above come after it.
NO_MARKUP = r"(?![a-zA-Z/!?])"
#: Elements whose content is text up to their end tag.
RAW_TEXT = ("iframe", "noembed", "noframes", "script", "style", "textarea", "title", "xmp")
#: Elements inside which markup is read in another way, and the names in them for which it is not.
_FOREIGN = {
    "svg": (
        "path|g|circle|rect|line|polyline|polygon|ellipse|use|defs|symbol|stop|mask|text|tspan"
        "|marker|pattern|linear[gG]radient|radial[gG]radient|clip[pP]ath|animate|filter|title"
    ),
    "math": (
        "mrow|mi|mn|mo|ms|mtext|msup|msub|msubsup|mfrac|msqrt|mroot|mstyle|mtable|mtr|mtd|munder"
        "|mover|munderover|mspace|mpadded|mphantom|menclose|mfenced|semantics|annotation"
    ),
}


def raw_text(name: str, *, end_of_tag: str = "?:", content: str = "?:") -> str:
    """
    Return the pattern of an element of raw text, from its name to its end.

    *end_of_tag* and *content* may begin groups: ``?P<name>``. The second has the "<" of the end
    tag too: it is not empty if there is such an element.
    """
    first = rf"[{name[0]}{name[0].upper()}]"  # the re module looks at it before it tries the rest
    end = rf"/(?ai:{name}){AFTER_NAME}"
    text = rf"[^<]*+(?:<(?!{end})[^<]*+)*+"
    if name == "script":
        # A script with "<script" after "<!--" is not matched: its next end tag may be text.
        text = (
            rf"[^<]*+(?:<(?!{end}|!--)[^<]*+)*+"
            rf"(?:<!--[^<]*+(?:<(?!/?+(?ai:script){AFTER_NAME})[^<]*+)*+)?+"
        )
    return (
        rf"{first}(?ai:{name[1:]}){AFTER_NAME}({end_of_tag}{TAG_END})({content}{text}<)"
        rf"{end}{ATTRIBUTES}>"
    )


def foreign(name: str, end_of_tag: str = TAG_END) -> str:
    """
    Return the pattern of a drawing (svg) or a formula (math), from its name to its end.

    Only those match whose tags are read alike inside and outside of them.
    """
    tag = rf"/?+(?ai:{_FOREIGN[name]}){AFTER_NAME}{end_of_tag}"
    start = rf"[{name[0]}{name[0].upper()}](?ai:{name[1:]}){AFTER_NAME}{end_of_tag}(?<!/>)"
    return rf"{start}[^<]*+(?:<(?:{tag}|{COMMENT})[^<]*+)*+</(?ai:{name}){BLANK}*+>"


#: What is not a tag, after its "<"; and a start tag after which nothing but raw text follows.
NO_TAG = rf"{'|'.join(map(raw_text, RAW_TEXT))}|{COMMENT}|{BOGUS_COMMENT}|{NO_MARKUP}"
RAW_START = rf"(?:{'|'.join(RAW_TEXT)}){AFTER_NAME}"


@cache
def compiled(pattern: str, *, any_case: bool = True) -> re.Pattern[str]:
    """Compile *pattern* when the first page needs it: that takes as long as many pages do."""
    return re.compile(pattern, re.IGNORECASE | re.ASCII if any_case else 0)


@cache
def compiled_for_bytes(pattern: str) -> re.Pattern[bytes]:
    """Compile *pattern*, which is ASCII, for text in UTF-8."""
    return re.compile(pattern.encode("ascii"))


_FEW = re.compile(_FEW_ATTRIBUTES)
_ATTRIBUTE = re.compile(
    rf"{_SEPARATOR}*+([^\t\n\f\r />][^\t\n\f\r />=]*+){BLANK}*+"
    r"""(?:=[\t\n\f\r ]*+(?:"([^"]*+)"|'([^']*+)'|([^\t\n\f\r >"'][^\t\n\f\r >]*+|)))?+"""
)


def first_attributes(text: str) -> str:
    """Return the beginning of *text*, the attributes of a tag, up to the most that are allowed."""
    found = _FEW.match(text)
    return found[0] if found else ""


def attributes(text: str) -> dict[str, str]:
    """
    Return the attributes of a tag by name; of several with one name, the first counts.

    *text* is what is between the name of the tag and its ">". Values are as they are written.
    """
    found: dict[str, str] = {}
    for name, double, single, plain in _ATTRIBUTE.findall(text):
        found.setdefault(name.lower(), double or single or plain)
    return found
