"""The fast paths of links() find the same links as the general one."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from crawler.data import Request, Response
from crawler.errors import InvalidURL
from crawler.headers import Headers
from crawler.spider import links
from crawler.spider.links import title
from crawler.url import resolve

URL = "http://site.test/folder/page"
BLANKS = "".join(map(chr, range(33)))
NOT_PAGES = ("javascript:", "mailto:", "data:", "tel:", "sms:", "about:", "blob:")

HREFS = [
    *("", "x", "/x", "?q=1", "#top", "//other.test/y", "http://other.test/z", "https://site.test"),
    *(
        "../up",
        "./here",
        " /blank\t",
        "\n/line\n",
        "/a b",
        "/%zz",
        "MAILTO:x",
        "javascript:void(0)",
    ),
    *("http://[", "http://", "/&amp;&#47;", "x" * 300, "/" + "y" * 300, "/q?a=b&c=d#e", "data:,x"),
]
RELS = ["", " rel=nofollow", " rel='noopener NoFollow'", " rel", " rel=xnofollow", " rel=''"]
TAGS = [
    *("<p>", "</p>", "<div>", "</div>", "<svg>", "</svg>", "<template>", "</template>", "<table>"),
    *("</table>", "<tr><td>", "<ul><li>", "<b>", "</b>", "<!--", "-->", "<script>", "</script>"),
    *(
        "<title>t</title>",
        "<body>",
        "</body>",
        "<form>",
        "<base>",
        "<math>",
        "<noscript>",
        "\0",
        "&",
    ),
    *("<select><option>", "<frameset>", "<a>", "<area>", "<a name=x>", "<A HREF", "<map>", "text"),
]


@st.composite
def anchors(draw):
    name = draw(st.sampled_from(["a", "a", "a", "A", "area", "AREA"]))
    href = draw(st.sampled_from(HREFS))
    written = draw(
        st.sampled_from([f"href='{href}'", f'HREF="{href}"', "href", f"x href = '{href}'"])
    )
    return (
        f"<{name} {written}{draw(st.sampled_from(RELS))}>{draw(st.sampled_from(['', 'x', '</a>']))}"
    )


html = st.lists(anchors() | st.sampled_from(TAGS), max_size=25).map("".join)


def page(body, content_type="text/html; charset=utf-8"):
    return Response(URL, 200, Headers({"Content-Type": content_type}), body, Request(URL))


def slowly(body, names, nofollow):
    """Yield the links as the standards define them, one by one, with another parser."""
    for element in LexborHTMLParser(body).css(", ".join(names)):
        given = element.attributes
        is_nofollow = "nofollow" in (given.get("rel") or "").lower().split()
        if "href" in given and not (nofollow and is_nofollow):
            yield from elsewhere((given["href"] or "").strip(BLANKS))


def elsewhere(href):
    if href.startswith(("#", *NOT_PAGES)):
        return
    try:
        url = resolve(URL, href)
    except InvalidURL:
        url = href
    if url and not url.startswith(NOT_PAGES):
        yield url


@given(html, st.sampled_from([("a", "area"), ("a",), ("area",)]), st.booleans())
@example("<a href=/1><area href=/2><a href=/3 rel=nofollow><a href>", ("a", "area"), True)
def test_links_are_those_that_the_standards_find_one_by_one(body, names, nofollow):
    assert list(links(page(body), tags=names, nofollow=nofollow)) == list(
        slowly(body, names, nofollow)
    )


@given(html, st.sampled_from([("a", "area"), ("a",), ("area",)]), st.booleans())
def test_anchors_are_found_alike_alone_and_among_other_elements(body, names, nofollow):
    # A track without a source has no link, but it makes links() look for several elements.
    body = "<track>" + body

    alone = list(links(page(body), tags=names, nofollow=nofollow))

    assert alone == list(links(page(body), tags=(*names, "track"), nofollow=nofollow))


@given(html, st.booleans())
@example("<base href=/below/><a href=x>", True)
def test_plain_text_is_read_alike_however_it_is_declared_and_however_long_it_is(body, nofollow):
    declared = ["text/html; charset=utf-8", "text/html; charset=windows-1252", "text/html"]
    # The text before the page has no effect, but makes it too long to be parsed as bytes.
    bodies = [
        body,
        "<!--" + "-" * 40_000 + "-->" + body,
        "<!--" + "<p> text" * 10_000 + "-->" + body,
    ]

    pages = [page(one, kind) for one in bodies for kind in declared]

    assert len({tuple(links(one, nofollow=nofollow)) for one in pages}) == 1
    assert len({title(one) for one in pages}) == 1


@pytest.mark.parametrize("number", [1, 255, 256, 257, 512, 1000])
def test_no_link_of_a_long_page_is_left_out_or_out_of_order(number):
    body = "".join(
        f"<a href='{'/' if n % 3 else ''}{n}'></a><a href='#x'></a>" for n in range(number)
    )

    found = list(links(page(body)))

    assert [int(url.rpartition("/")[2]) for url in found] == list(range(number))
