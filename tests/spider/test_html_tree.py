"""The tree of a page is that of its text, whether bytes or text were parsed."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from crawler.data import Response
from crawler.spider.html_limits import flatten
from crawler.spider.html_tree import tree_of
from crawler.spider.links import links, title

CHARSETS = ["", *(f"; charset={name}" for name in ("utf-8", "utf-16", "iso-2022-jp", "latin-1"))]
#: ASCII bytes, some of which mean other characters: in ISO-2022-JP, and declared as UTF-16.
PARTS = [
    *(b"<a href=/x>", b"<p>", b"</p>", b"<b>", b"<table>", b"<td>", b"<script>", b"<!--", b"text"),
    *(b"&amp;", b"\0", b"\r\n", b"\x1b$B", b"\x1b(B", b'$"', b"<meta charset=utf-16>", b"\x7f"),
    *(
        b"<meta charset=iso-2022-jp>",
        b"<?xml encoding='utf-16'?>",
        b"\xc3\xa4",
        b"\xff",
        b"\xef\xbb\xbf",
    ),
]


def page(body, charset=""):
    return Response("http://site.test/", 200, {"content-type": f"text/html{charset}"}, body)


@given(st.lists(st.sampled_from(PARTS)).map(b"".join), st.sampled_from(CHARSETS))
@example(b'\x1b$B$"\x1b(B', "; charset=iso-2022-jp")
@example(b"<\0a\0>\0", "; charset=utf-16")
def test_a_body_that_is_not_decoded_has_the_tree_of_its_text(body, charset):
    text = page(body, charset).text

    assert tree_of(page(body, charset)).parser.html == LexborHTMLParser(text).html


def test_what_is_not_decoded_is_no_deeper_than_what_is():
    deep = "<div>" * 4500

    decoded = tree_of(page(deep + "\xe4")).parser.html.replace("\xe4", "")
    assert tree_of(page(deep)).parser.html == decoded == flat(deep)


@pytest.mark.parametrize("ending", ["", "\xe4"])
def test_a_selected_option_is_no_second_link(ending):
    """A browser shows the link twice, but the page has it once."""
    html = (
        "<select><button><selectedcontent></selectedcontent></button>"
        f"<option selected><a href=/x>x</a></option></select>{ending}"
    )

    assert len(tree_of(page(html)).parser.tags("a")) == 1


def flat(html):
    return LexborHTMLParser(flatten(html)).html


@pytest.mark.parametrize("tags", [("a", "area"), ("a", "img")])
@pytest.mark.parametrize(("number", "is_kept"), [(10, True), (30_000, False)])
def test_the_tree_of_a_long_page_is_not_kept_when_its_links_are_known(number, is_kept, tags):
    html = "<title>x</title>" + "".join(f"<a href=/{n}>" for n in range(number))
    response = page(html)
    assert title(response) == "x"

    found = links(response, tags=tags)

    assert ("_tree" in vars(response) or "_scan" in vars(response)) is is_kept
    assert sum(1 for _ in found) == number
    assert title(response) == "x"
