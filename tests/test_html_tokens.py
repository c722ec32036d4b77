import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from crawler.html_tokens import (
    ANY_TAG_END,
    ATTRIBUTES,
    MOST_ATTRIBUTES,
    NAME,
    NO_TAG,
    RAW_START,
    TAG_END,
    attributes,
    first_attributes,
)

PIECES = ["a", "b", "href", "HREF", "=", '"', "'", " ", "/", "\n", "\t", "x", "<", "é", "`", "--"]
SOUP = [
    *(
        "<!--",
        "-->",
        "--!>",
        "-",
        "!",
        ">",
        "<",
        "</",
        "?",
        "<?",
        "<!",
        "x",
        " ",
        "/",
        '"',
        "'",
        "=",
    ),
    *(
        "<script>",
        "</script>",
        "<SCRIPT>",
        "</Script ",
        "<style>",
        "</style>",
        "<title>",
        "</title>",
    ),
    *("<p>", "</p>", "<p a=", "<p a='", '<p a="', "<textarea>", "</textarea>", "<xmp>", "</xmp/>"),
]
#: What a parser sees as tags of an element called p, if there is nothing else around.
PARAGRAPHS = re.compile(
    rf"[^<]*+(?:<(?:{NO_TAG}|(?!{RAW_START})/?+(?!p[\t\n\f\r />])[a-z]{NAME}{TAG_END})[^<]*+)*+"
    rf"(?:<(p)(?=[\t\n\f\r />]){TAG_END}|<(/)p{TAG_END}|(\Z)|([\s\S])[\s\S]*+)",
    re.IGNORECASE | re.ASCII,
)


def paragraphs(html):
    return LexborHTMLParser(html).tags("p")


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
@example(' a="b"c=d')
@example(" =a=b")
@example(" a/=b")
@example(" a ='b' a=c")
def test_attributes_are_those_that_a_parser_finds(text):
    text = f" {text}"
    if not re.fullmatch(ATTRIBUTES, text):  # a quote is left open, so the tag goes on
        assert paragraphs(f"<p{text}>") == []
        return

    [element] = paragraphs(f"<p{text}>")

    found = {name: value or "" for name, value in element.attributes.items()}
    assert found == attributes(text)


@given(st.lists(st.sampled_from(SOUP), max_size=15).map("".join))
@example("<script><!--<script></script>--></script><p>")
@example("<!--!><p>-->")
@example("<!----!><p>")
@example('<p a="<p>')
def test_a_tag_is_found_where_a_parser_finds_one(html):
    tokens = [token.groups() for token in PARAGRAPHS.finditer(html)]
    if any(unknown for *_, unknown in tokens):
        return  # something has no end, or is left to a parser

    # An end tag without a start tag makes an element as well, but not before the body.
    assert sum(1 for start, *_ in tokens if start) <= len(paragraphs(f"<body>{html}"))
    if not any(end for _, end, *_ in tokens):
        assert sum(1 for start, *_ in tokens if start) == len(paragraphs(f"<body>{html}"))


@pytest.mark.parametrize("attribute", [" a{}", " a{}='x > y'", ' a{}="b"', "/a{}", "\n a{} = b "])
def test_no_more_attributes_are_kept_than_are_allowed(attribute):
    text = "".join(attribute.format(number) for number in range(2 * MOST_ATTRIBUTES))

    kept = first_attributes(text)

    assert text.startswith(kept)
    assert len(attributes(kept)) == MOST_ATTRIBUTES
    assert not re.fullmatch(TAG_END, f"{text}>")
    assert re.fullmatch(TAG_END, f"{kept}>")
    assert re.fullmatch(ANY_TAG_END, f"{text}>")
