import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from crawler.spider.open_paragraph import may_end_in_a_link

PARTS = st.sampled_from(
    "<p> </p> <div> </div> <ul> <li> </ul> <b> </b> <a href=x> </a> <button> </button> <table> <td> "  # noqa: SIM905
    "</table> <object> </object> <!--<div>--> <script></script> <h1> </h1> <form> </form> x".split()
)


def is_in_paragraph(html):
    """Return whether a parser puts what follows *html* into a paragraph that a block would end."""
    open_, ended = (LexborHTMLParser(f"{html}{mark}") for mark in ("<i id=m>", "<h6 id=m>"))
    return len(_around(open_)) > len(_around(ended))


def _around(tree):
    node, names = tree.css_first("#m"), []
    while node is not None:
        names += ["p"] if node.tag == "p" else []
        node = node.parent
    return names


@given(st.lists(PARTS, max_size=10).map("".join))
def test_a_paragraph_that_a_block_would_end_is_known(html):
    if is_in_paragraph(html):
        assert may_end_in_a_link(f"{html}<a href=y><h6></h6></a>".encode())


@pytest.mark.parametrize(
    "html", ["", "<p>x</p>", "<p>x<div>", "<p>a <b>c</b><ul><li>", "<!-- <p> -->", "<pre>"]
)
def test_a_paragraph_that_ended_is_known(html):
    assert not may_end_in_a_link(f"{html}<a href=y><h6></h6></a>".encode())
