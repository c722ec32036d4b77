"""Ordinary pages are left as they are, and no page is left that a parser would take long for."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from crawler.html_tokens import MOST_ATTRIBUTES
from crawler.spider.html_flattening import DEEPEST
from crawler.spider.html_limits import flatten, narrow

LINK = "<a class='x' href=/found>here</a>"
ORDINARY = {
    "well-formed": f"<div class=a><p>text {LINK} and <b>bold</b></p></div>",
    "without end tags": f"<section><p>text<br><ul><li>one<li>two {LINK}</ul></section>",
    "definitions": f"<dl><dt>a<dd>b {LINK}<dt>c<dd>d</dl>",
    "values with angles": f"<p data-a=\"b > c\" title='<b>'>{LINK}</p>",
    "scripts": f"<script>if (a < b && c > d) e('<p>')</script><style>a > b {{}}</style>{LINK}",
    "old scripts": f"<script><!--\ndocument.write('<b>');\n//--></script>{LINK}",
    "comments": f"<!-- <div><div> --><!doctype x><?php ?>{LINK}",
    "formatting": f"<p><b>a <i>b</i></b> <code><span>c</span></code><em>d {LINK}</em></p>",
    "upper case": f"<DIV><P>text <B>b <I>c</I></B>{LINK}</DIV>",
    "drawings": f"<svg viewBox='0 0 1 1'><title>t</title><g><path d='M0'/></g></svg>{LINK}",
    "formulas": f"<math><mrow><mi>x</mi><mo>=</mo><mn>1</mn></mrow></math>{LINK}",
    "tables": f"<table><tr><td>a</td><td>{LINK}</td></tr></table>",
    "text with angles": f"1 < 2 and 3 <4 </> {LINK}",
}


@pytest.mark.parametrize("number", [1, 40, 1500])
@pytest.mark.parametrize("name", ORDINARY)
def test_an_ordinary_page_is_left_as_it_is_however_long(name, number):
    html = ORDINARY[name] * number

    assert flatten(html) == narrow(html) == html


def test_tags_that_nest_too_deep_are_left_out_and_their_text_stays():
    deep = "<div>" * 600 + "<b>x</b>" + "</div>" * 600 + "<!-- -->" * 5000

    flat = f"{'<div>' * DEEPEST}<b>x</b>{'</div>' * DEEPEST}{'<!-- -->' * 5000}"

    assert flatten(deep) == narrow(deep) == flat


@pytest.mark.parametrize(
    "unit",
    [
        # Each leaves an element open that looks closed, or closes one that looks open.
        "<x><div></x></div>",
        "<button><button></button><span></button>",
        "<form><table><td></form></td></table></form>",
        "<x><b></x></b><option></x>",
        "<svg><style><!--</style><div>--></svg>",
        "<b><!--</b>-->",
        "<script><!--<script></script><div>",
        "<div></title>",
    ],
)
def test_elements_that_seem_to_be_closed_do_not_make_a_page_deep(unit):
    tree = LexborHTMLParser(flatten(unit * 5000))

    assert depth(tree) <= 3 * DEEPEST


@pytest.mark.parametrize(
    ("formatting", "block"),
    [
        ("<b id={}>", "<p>x"),
        ("<font color={}>", "<div>x</div>"),
        ('<i class="a>b{}">', "<p>x"),
        ("<table><u id={}>", "<tr>x"),
        ("<fONT size={}>", "<p>x"),
    ],
)
def test_formatting_that_is_not_closed_does_not_fill_each_block(formatting, block):
    html = "<p>" + "".join(map(formatting.format, range(200))) + block * 2000

    assert len(LexborHTMLParser(flatten(html)).css("*")) < 3 * 2200


@pytest.mark.parametrize("end", ["", "</script>", "<p>", "<!--"])
def test_attributes_are_counted_wherever_the_tag_is(end):
    wide = f"<p {' '.join(f'a{n}' for n in range(5000))}>"
    hidden = ("", '<!-- " --', "<script>'</script", '<p a=b=" ', "</script a='>'")

    for html in (f"{before}>{wide}{end}" for before in hidden):
        for change in (flatten, narrow):
            [*_, element] = LexborHTMLParser(change(html)).css("p[a1]")
            assert len(element.attributes) <= MOST_ATTRIBUTES


BLOCKS = "p div ul li dl dd table tr td caption form select option button object h1 template body"
OTHERS = "a b i font nobr span x rp svg math g foreignObject title desc script style textarea input"
NAMES = [*BLOCKS.split(), *OTHERS.split()]
TOKENS = st.one_of(
    *(st.sampled_from(NAMES).map(form.format) for form in ("<{}>", "</{}>", "<{} a=1>", "<{}/>")),
    st.sampled_from(
        ["x", "<!--", "-->", "<![CDATA[", "]]>", '"', "<b a='", '<b a="', "text text "]
    ),
)


@settings(max_examples=40)
@given(st.lists(TOKENS, max_size=3), st.lists(TOKENS, min_size=1, max_size=8))
def test_whatever_is_repeated_gives_no_deep_and_no_large_tree(first, repeated):
    html = "".join(first) + "".join(repeated) * 1000

    tree = LexborHTMLParser(flatten(html))

    assert len(tree.css("*")) <= 2 * len(html) + 100
    # A tag in many characters may be deep: a parser has time for it.
    assert depth(tree) <= max(3 * DEEPEST, (200 * len(html)) ** 0.5)


def depth(tree):
    """Return how deep the last element is: of a page that repeats itself, the deepest one."""
    node, levels = tree.css("*")[-1], 0
    while node.parent is not None:
        node, levels = node.parent, levels + 1
    return levels
