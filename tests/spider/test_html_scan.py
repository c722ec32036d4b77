"""A scan finds what the tree of the page has, or leaves the page to the parser."""

from itertools import chain
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crawler.charset import decode
from crawler.data import Request, Response
from crawler.spider import html_scan
from crawler.spider.html_scan import SCANNED, scan, scan_of
from crawler.spider.html_tree import HtmlTree
from crawler.spider.nofollow import is_nofollow

LINK = "<a href='/found'>here</a>"
#: What pages are made of. No parser is needed for the links of any of them.
ORDINARY = {
    "anchors": '<a class="x" href="/a" title="t">a</a><a href=b>b</a><a rel=next href=\'/c\'>c</a>',
    "content": '<a href="/a"><span><b>a</b> <img src=i alt=">"></span></a><a href=/b>x<br>y</a>',
    "cards": '<p>x</p><div><a href="/a"><div class=c><h2>a</h2><p>b</p></div></a></div>'
    "<p>y<ul><li><a href=/b rel=next><h3>b</h3></a></ul>",
    "icons": '<a href="/a"><svg viewBox="0 0 1 1"><title>t</title><path d="M0"/></svg></a>',
    "targets": "<a name=top><h1>x</h1><a id=y></a><p>z" + LINK,
    "nested anchors": '<a href="/a">x<a href="/b">y</a></a>',
    "references": '<a href="/a?b=1&amp;c=2">a</a><a href=/&#x41;&lt;>b</a><a href="/&copy=1">c</a>',
    "values": '<p title="<a href=/no>" data-x=\'>\' y=">">' + LINK,
    "scripts": "<script>if (a < b) '<a href=/no>'</script><style>a > b {}</style>" + LINK,
    "comments": "<!-- <a href=/no> --><!doctype html><?php <a ?>" + LINK,
    "raw text": "<textarea><a href=/no></textarea><noframes><a href=/no></noframes>" + LINK,
    "tables": f"<table><caption>{LINK}</caption><tr><th>x</th><td>{LINK}</td></tr></table>" + LINK,
    "a form around rows": f"<table><form><tr><td>x</form>{LINK}</table>",
    "bare tables": f"<table>\n<tr><td>a<td>{LINK}\n<tr><td>b</table>{LINK}",
    "selects": f"<select name=s><option value=1>one<option selected>two</select>{LINK}",
    "lists": f"<ul><li>a<li>{LINK}<li>c</ul><dl><dt>a<dd>{LINK}</dl>",
    "upper case": '<HTML><BODY><P>x<A HREF="/a" CLASS=b>a</A><TABLE><TR><TD><A HREF=/b>b</A></TABLE>',
    "drawings": f"<svg><g><circle r=1 /></g></svg><math><mi>x</mi></math>{LINK}",
    "text": f"1 < 2 <3 </> & so on {LINK}",
    "heads": "<title>a &amp; <b>\n c</title><base href=/x/><meta name=robots content=none>" + LINK,
    "frames": f"<iframe src=/frame><a href=/no></iframe><noscript>{LINK}</noscript>",
}
#: Pages in which a parser moves elements, opens them again or reads them in another way.
DIFFICULT = {
    "a text area without an end, and a bracket": "<textarea><a href=/x>x</a><",
    "an anchor that is not closed": "<p><a href=/a>x<p>y",
    "an anchor around a block": "<p><a href=/a><div>x</div></a>",
    "an anchor around a block, then inline": "<p><a href=/a><b><i><div>x</div></i></b><b>y</b></a>",
    "a paragraph in an anchor, then inline": "<p><a href=/a><b><i><p>x</p></i></b><b>y</b></a>",
    "an anchor up to the end of the page": "<p>x</p><a href=/a>y",
    "a paragraph around a button": "<p><button><div></div></button><a href=/a><div>x</div></a>",
    "an anchor that its parent closes": "<span><a href=/a></span>x</a>",
    "between cells": f"<table><tr>{LINK}<td>x{LINK}</table>",
    "after a cell": f"<table><tr><td>x</td>{LINK}</table>",
    "templates": f"<template>{LINK}</template>",
    "frame sets": f"<frameset><frame src=/f></frameset>{LINK}",
    "plain text": f"<plaintext>{LINK}",
    "links in drawings": f"<svg>{LINK}</svg>",
    "a drawing without content": f"<svg/><title>x</title></svg>{LINK}",
    "a title in a drawing": "<svg><desc><title>x</title></desc></svg>",
    "a script that does not end": f"<script>{LINK}",
    "a script in a comment in a script": f"<script><!--<script></script>{LINK}",
    "a tag that does not end": f'{LINK}<a href="/x',
}


def found(page):
    """Return the elements as the tree and a scan both have them: only an anchor may lack attributes."""
    named = [
        ("a", {"href": one}) if isinstance(one, str) else one
        for one in chain.from_iterable(page.elements(SCANNED, None))
    ]
    elements = [
        (
            name,
            {"href": given["href"] or ""}
            if name == "a" and not is_nofollow(given.get("rel"))
            else {key: value or "" for key, value in given.items()},
        )
        for name, given in named
        if (name != "a" or "href" in given) and (name != "meta" or matters(given))
    ]
    title = page.title and " ".join(page.title.split())
    return elements, page.base, title


def matters(meta):
    """Return whether a meta element may say nofollow, or lead to another page."""
    name, event = (meta.get(key) or "" for key in ("name", "http-equiv"))
    return name.strip().lower() == "robots" or event.strip().lower() == "refresh"


@pytest.mark.parametrize("case", [str, str.upper])
@pytest.mark.parametrize("name", ORDINARY)
def test_an_ordinary_page_needs_no_parser(name, case):
    html = case(ORDINARY[name])

    assert found(scan(html.encode())) == found(HtmlTree(html))


def test_a_long_ordinary_page_needs_no_parser():
    parts = ("anchors", "content", "scripts", "comments", "tables", "lists", "selects", "values")
    html = "\r\n".join(ORDINARY[name] for name in parts) * 300

    assert found(scan(html.encode())) == found(HtmlTree(html))


@pytest.mark.parametrize("name", DIFFICULT)
def test_a_difficult_page_is_left_to_the_parser(name):
    assert scan(DIFFICULT[name].encode()) is None


@pytest.mark.parametrize(("null", "is_scanned"), [("\0", False), ("&#0;", True)])
def test_a_page_with_null_is_left_to_the_parser(null, is_scanned):
    body = f"<p>{null}</p>{LINK}".encode()
    response = Response("http://a.example/", 200, {}, body, Request("http://a.example/"), 0.1)

    assert (scan_of(response) is not None) is is_scanned


HREFS = ["/x", "y", "", " /b ", "/&amp;", "/&lt&copy=1", "/\r\n", "&#65;", "?q=1&r", "/>", "#"]
written = st.sampled_from(
    [
        'href="{}"',
        "href='{}'",
        "href",
        'HREF = "{}"',
        'class="a b" href="{}" id="c"',
        "x=1 href='{}'/",
    ]
)
rels = st.sampled_from(["", ' rel="nofollow"', " rel", " title='<a>'", ' title=">"'])
starts = st.builds(
    lambda name, how, href, rel: f"<{name} {how.format(href)}{rel}>",
    st.sampled_from(["a", "a", "a", "A", "area"]),
    written,
    st.sampled_from(HREFS),
    rels,
)
NAMES = "a b span div p li table tr td th caption form select option svg title button code noscript"
tags = st.sampled_from([f"<{sign}{name}>" for name in NAMES.split() for sign in ("", "/")])
texts = st.sampled_from(
    ["x", " ", "\n", "&", "&amp;", "<", "<!-- <a> -->", "<br>", "<img src=x>", "<a name=n>", "</a>"]
)
others = st.sampled_from(
    [
        *(
            "<script>'<a href=/s>'</script>",
            "<base href=/b/>",
            "<meta name=robots content=nofollow>",
            "<meta name='&#114;obots' content=none>",
            "<meta name=viewport content=width>",
            "<META HTTP-EQUIV=Refresh content='1; url=/r'>",
        ),
        *("<title>t &lt;</title>", "<iframe src=f></iframe>", "<option>", "<path d=x />", "<body>"),
        *(
            "<template>",
            "<frameset>",
            "<plaintext>",
            "<math>",
            "<textarea>",
            "</textarea>",
            "</html>",
        ),
    ]
)
anchors = starts.flatmap(
    lambda start: st.sampled_from(
        ["x", "<b>x</b>", "<span><i>y</i></span>", "<div><p>z</p></div>", "<h2>h</h2>", ""]
    ).map(lambda text: f"{start}{text}</a>")
)
soup = st.lists(anchors | starts | tags | texts | others, max_size=30).map("".join)
nested = st.recursive(
    anchors | texts,
    lambda inner: st.builds(
        lambda name, content: f"<{name}>{content}</{name}>",
        st.sampled_from(
            ["div", "p", "ul", "li", "table", "tr", "td", "th", "b", "span", "form", "center"]
        ),
        st.lists(inner, max_size=4).map("".join),
    ),
    max_leaves=25,
)


@given(soup | nested)
@example("<table><tr><td><a href=/a>x</a></td></tr><b><a href=/b>y</a></b></table>")
@example("<b><a href=/a>x</b>y</a>")
def test_a_scan_finds_what_the_tree_has(html):
    tree = found(HtmlTree(html))

    for longest in (html_scan._PART, 8):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(html_scan, "_PART", longest)
            scanned = scan(html.encode())

        assert scanned is None or found(scanned) == tree


def documentation():
    roots = ("/usr/share/cppreference", "/usr/share/doc")
    pages = (page for root in roots for page in Path(root).rglob("*.htm*"))
    return sorted({page.resolve() for page in pages if page.is_file()})


@pytest.mark.long
def test_a_scan_finds_what_the_tree_has_on_every_page_of_the_documentation():
    pages = documentation()
    if not pages:
        pytest.skip("no documentation in HTML is installed")

    unsure = 0
    for page in pages:
        html = decode(page.read_bytes(), "text/html")
        scanned = scan(html.encode())
        unsure += scanned is None
        assert scanned is None or found(scanned) == found(HtmlTree(html)), page

    assert unsure <= len(pages) / 10
