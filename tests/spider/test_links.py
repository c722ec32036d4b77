import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.data import Response
from crawler.headers import Headers
from crawler.spider import links, title
from crawler.spider.html_limits import flatten
from crawler.spider.links import is_html

from ..cpu_time import takes_at_most

URL = "http://site.test/dir/page?q=1"
HTML = "text/html; charset=utf-8"


def page(body, content_type=HTML, url=URL, headers=()):
    body = body.encode() if isinstance(body, str) else body
    fields = [("content-type", content_type)] if content_type else []
    return Response(url, 200, Headers([*fields, *headers]), body)


def found(body, content_type=HTML, url=URL, headers=(), **options):
    return list(links(page(body, content_type, url, headers), **options))


def test_the_page_knows_the_links_that_lead_to_no_page_and_were_asked_for():
    body = "<a href=/a></a><a href='mailto:a'></a><a href='\ttel:1'></a><a href=#top></a>"
    one, other = page(body), page(body)

    assert list(links(one)) == list(links(other, deny="tel:")) == ["http://site.test/a"]
    assert [list(some) for some in one.not_pages] == [["mailto:a", "tel:1"]]
    assert [list(some) for some in other.replace(status=203).not_pages] == [["mailto:a"]]


# -- which elements ---------------------------------------------------------------------------


def test_links_come_absolute_and_in_document_order_each_as_often_as_it_is_there():
    body = "<a href=/a></a><map><area href=b></map><a href=http://other.test/c></a><a href=/a></a>"

    assert found(body) == [
        "http://site.test/a",
        "http://site.test/dir/b",
        "http://other.test/c",
        "http://site.test/a",
    ]


def test_without_being_asked_only_what_leads_to_pages_is_looked_at():
    body = "<link href=/l><img src=/i><script src=/s></script><form action=/f></form><a>no</a>"

    assert found(body) == []


@pytest.mark.parametrize(
    ("tag", "body"),
    [
        ("a", "<a href=/x></a>"),
        ("link", "<link rel=next href=/x>"),
        ("iframe", "<iframe src=/x></iframe>"),
        ("iframe", "<iframe data-src=/x></iframe>"),
        ("frame", "<html><frameset><frame src=/x></frameset></html>"),
        ("img", "<img src=/x>"),
        ("img", "<img data-src=/x>"),
        ("img", "<img data-original=/x src=data:image/gif;base64,R0lG>"),
        ("source", "<picture><source srcset=/x></picture>"),
        ("script", "<script src=/x></script>"),
        ("form", "<form action=/x></form>"),
        ("video", "<video poster=/x></video>"),
        ("object", "<object data=/x></object>"),
    ],
)
def test_other_elements_are_looked_at_by_choice(tag, body):
    assert found(body, tags=tag) == ["http://site.test/x"]
    assert found(body, tags=[tag]) == ["http://site.test/x"]


def test_elements_of_several_kinds_keep_their_order():
    body = "<img src=1><a href=2></a><img src=3><iframe src=4></iframe>"

    urls = found(body, tags=("a", "img", "iframe"))

    assert [url[-1] for url in urls] == ["1", "2", "3", "4"]


def test_an_element_without_known_links_is_refused_at_once_with_those_that_have_some():
    with pytest.raises(
        ValueError, match="'blink' elements have no links; tags must be among a, area"
    ):
        links(page(""), tags=("a", "blink"))


@pytest.mark.parametrize(
    ("srcset", "names"),
    [
        ("a.png", ["a.png"]),
        ("a.png 1x, b.png 2x", ["a.png", "b.png"]),
        ("a.png 1x,b.png 2x", ["a.png", "b.png"]),
        ("a.png, b.png", ["a.png", "b.png"]),
        (" a.png 480w ,\n b.png 800w , ", ["a.png", "b.png"]),
        ("a,b.png 1x", ["a,b.png"]),
        ("data:image/gif;base64,R0lG 1x, b.png 2x", ["b.png"]),
        ("", []),
        (" , ,, ", []),
    ],
)
def test_a_srcset_has_one_link_for_each_candidate(srcset, names):
    assert found(f'<img srcset="{srcset}">', tags="img") == [
        f"http://site.test/dir/{name}" for name in names
    ]


def test_what_is_in_a_template_or_a_comment_or_a_script_is_no_link():
    body = "<template><a href=/t></a></template><!--<a href=/c>--><script>'<a href=/s>'</script>"

    assert found(body) == []


# -- where they lead --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("href", "url"),
    [
        ("", "http://site.test/dir/page?q=1"),
        ("  ", "http://site.test/dir/page?q=1"),
        ("?p=2", "http://site.test/dir/page?p=2"),
        ("../up", "http://site.test/up"),
        ("//cdn.test/x", "http://cdn.test/x"),
        (" \t\n /padded \r", "http://site.test/padded"),
        ("/bro\n ken\t/path", "http://site.test/bro%20ken/path"),
        ("\x01/control", "http://site.test/control"),
        (r"\back\slash", "http://site.test/back/slash"),
        ("HTTP://SITE.test:80/x", "http://site.test/x"),
        ("/ä?ö=ü#ß", "http://site.test/%C3%A4?%C3%B6=%C3%BC#%C3%9F"),
        ("page#part", "http://site.test/dir/page#part"),
        ("/a/./b/../c", "http://site.test/a/c"),
        ("/a/%2e%2E/c", "http://site.test/c"),
        ("http:relative", "http://site.test/dir/relative"),
        ("http://xn--mnchen-3ya.test/", "http://xn--mnchen-3ya.test/"),
        ("/a&amp;b?c&lt=1", "http://site.test/a&b?c&lt=1"),
    ],
)
def test_an_href_is_read_as_browsers_read_it(href, url):
    assert found(f'<a href="{href}">') == [url]


@pytest.mark.parametrize(
    "href",
    [
        "#top",
        " #top",
        "javascript:void(0)",
        "JavaScript:void(0)",
        " java\nscript:void(0)",
        "mailto:a@b.test",
        "tel:+1",
        "data:text/html,x",
        "about:blank",
    ],
)
def test_what_leads_to_no_other_page_is_passed_over(href):
    assert found(f'<a href="{href}">') == []


@pytest.mark.parametrize("href", ["http://[bad", "http://a b/", "https://", "http://x:99999/"])
def test_what_is_no_url_comes_out_as_it_was_written(href):
    assert found(f'<a href="{href}">') == [href]


def test_an_unknown_scheme_is_left_to_the_scope_to_refuse():
    assert found("<a href='ftp://x.test/f'></a><a href='magnet:?x'></a>") == [
        "ftp://x.test/f",
        "magnet:?x",
    ]


def test_an_empty_source_is_no_link():
    assert found("<img src><img src=''><link href=''><iframe src>", tags=("img", "link")) == []


def test_a_query_is_escaped_in_the_encoding_of_the_page_and_a_path_in_utf8():
    body = "<a href='/п?q=п&c=漢#п'>".encode("windows-1251", "xmlcharrefreplace")

    assert found(body, "text/html; charset=windows-1251") == [
        "http://site.test/%D0%BF?q=%EF&c=%26%2328450%3B#%D0%BF"
    ]


@pytest.mark.parametrize("encoding", ["utf-8", "windows-1251", "koi8-r", "utf-16le", "utf-16be"])
def test_links_are_found_in_any_encoding(encoding):
    assert found("<a href='/а'>".encode(encoding), f"text/html; charset={encoding}") == [
        "http://site.test/%D0%B0"
    ]


def test_a_page_whose_own_url_is_none_gives_what_it_can():
    body = "<a href=/a></a><a href=http://other.test/b></a>"

    assert found(body, url="nowhere") == ["/a", "http://other.test/b"]


# -- base -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("<base href=/b/>", "http://site.test/b/x"),
        ("<base href=b/>", "http://site.test/dir/b/x"),
        ("<base href=http://other.test/c/d>", "http://other.test/c/x"),
        ("<base target=_top><base href=/b/><base href=/c/>", "http://site.test/b/x"),
        ("<BASE HREF=' /b/ '>", "http://site.test/b/x"),
        ("<base href=>", "http://site.test/dir/x"),
        ("<base href=http://[bad/><base href=/b/>", "http://site.test/dir/x"),
        ("<base href=data:,x>", "http://site.test/dir/x"),
        ("<base href=javascript:x>", "http://site.test/dir/x"),
        ("<svg><base href=/b/></svg>", "http://site.test/dir/x"),
        ("<template><base href=/b/></template>", "http://site.test/dir/x"),
        ("<!-- <base href=/b/> -->", "http://site.test/dir/x"),
    ],
)
def test_the_first_base_counts_if_it_is_a_good_one(base, url):
    assert found(f"<head>{base}</head><a href=x>") == [url]


# -- choice -----------------------------------------------------------------------------------

SHOP = "<a href=/item/1></a><a href=/item/2?sort=up></a><a href=/about></a>"


@pytest.mark.parametrize(
    ("allow", "deny", "names"),
    [
        (r"/item/", (), ["item/1", "item/2?sort=up"]),
        (re.compile(r"/ITEM/", re.IGNORECASE), r"\?sort=", ["item/1"]),
        ([r"/item/\d$", "about"], (), ["item/1", "about"]),
        ((), [r"item", re.compile("nothing")], ["about"]),
        ("^http://site", "^https:", ["item/1", "item/2?sort=up", "about"]),
        ("^/item", (), []),
    ],
)
def test_patterns_choose_by_the_absolute_url(allow, deny, names):
    assert found(SHOP, allow=allow, deny=deny) == [f"http://site.test/{name}" for name in names]


def test_a_pattern_that_is_none_is_refused_at_once():
    with pytest.raises(re.error):
        links(page(SHOP), allow="(")


@pytest.mark.parametrize(
    ("css", "names"),
    [
        ("ul.pager", "12"),
        ("ul.pager, nav", "123"),
        ("ul.pager > li", "12"),
        ("a.next", "2"),
        ("div, ul, a", "1234"),
        ("#none", ""),
    ],
)
def test_css_restricts_the_search_to_regions_or_to_links_themselves(css, names):
    body = (
        "<div><div><ul class=pager><li><a href=1></a><li><a href=2 class=next></a></ul></div>"
        "<nav><a href=3></a></nav></div><p><a href=4></a></p>"
    )

    assert found(body, css=css) == [f"http://site.test/dir/{name}" for name in names]


@pytest.mark.parametrize("css", ["", "ul[", "ul >", "a) b", "..x"])
def test_what_is_no_selector_is_refused_at_once(css):
    with pytest.raises(ValueError, match="css must be a CSS selector, not"):
        links(page(SHOP), css=css)


# -- kinds of documents -----------------------------------------------------------------------

SITEMAP = "<?xml version='1.0'?><urlset><url><loc>http://site.test/a?b&amp;c</loc></url></urlset>"
ATOM = "<feed><title>t</title><entry><link href='/e'/></entry></feed>"
RSS = "<rss><channel><link>/</link><item><link>/i</link></item></channel></rss>"
XHTML = "<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'><a href='x'/></html>"


@pytest.mark.parametrize(
    ("body", "urls"),
    [
        (SITEMAP, ["http://site.test/a?b&c"]),
        (ATOM, ["http://site.test/e"]),
        (RSS, ["http://site.test/i"]),
        (XHTML, ["http://site.test/dir/x"]),
        ("<?xml version='1.0'?><books><a href='/no'/></books>", []),
        ("", []),
    ],
)
@pytest.mark.parametrize(
    "content_type", ["text/xml", "application/xml; charset=utf-8", "image/x+xml"]
)
def test_links_of_xml_are_those_of_the_document_it_is(body, urls, content_type):
    if content_type.startswith("image"):
        urls = []
    assert found(body, content_type) == urls


@pytest.mark.parametrize("body", [SITEMAP, ATOM, RSS, XHTML])
def test_a_document_nobody_named_is_looked_at(body):
    assert len(found(body, None)) == 1


def test_patterns_choose_among_the_links_of_a_sitemap_too():
    assert found(SITEMAP, "text/xml", deny="b&c") == []


@pytest.mark.parametrize(
    "content_type", ["text/plain", "application/json", "image/png", "application/octet-stream"]
)
def test_other_documents_have_no_links(content_type):
    assert found("<a href=/a>", content_type) == []


@pytest.mark.parametrize(
    ("content_type", "body", "expected"),
    [
        ("text/html", b"", True),
        (" TEXT/HTML;charset=x", b"", True),
        ("application/xhtml+xml", b"", True),
        ("application/json", b"<html>", False),
        ("", b" \n<html>", True),
        ("", b"text", False),
    ],
)
def test_html_is_what_is_declared_or_begins_like_it(content_type, body, expected):
    assert is_html(page(body, content_type)) is expected


# -- title ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<title> A\n page </title>", "A page"),
        ("<title>a</title><title>b</title>", "a"),
        ("<title>&lt;b&gt; &amp; c</title>", "<b> & c"),
        ("<svg><title>s</title></svg>", None),
        ("<p>no", None),
        ("<title></title>", ""),
    ],
)
def test_the_title_is_the_text_of_the_first_title_on_one_line(body, expected):
    assert title(page(body)) == expected


def test_only_html_has_a_title():
    assert title(page("<title>a</title>", "text/plain")) is None


@pytest.mark.parametrize("link", ["<a href=/a>a</a>", "<p><a href=/a><p>"])
def test_a_page_is_read_once_for_title_and_links(link):
    response = page(f"<title>a</title>{link}")

    title(response)
    read = {name: vars(response).get(name) for name in ("_scan", "_tree")}
    list(links(response))

    assert all(vars(response).get(name) is once for name, once in read.items())
    assert (read["_scan"] is None) is (read["_tree"] is not None)


# -- anything at all --------------------------------------------------------------------------

PARTS = b"""<a |href=|<base |'|"|>|<|/|&#0;|&#xD800;|<svg>|<template>|</a>|<!--|x|<?xml?>
|<meta name=robots content=|<urlset>|<url><loc>|</loc>|<rss>|<item><link>|<![CDATA[|,|
|<img srcset='|http://|[|<title>|</|\0|\xff|\x1f\x8b| """
MARKUP = st.lists(st.sampled_from(PARTS.split(b"|")), max_size=30).map(b"".join)


@given(
    st.binary(max_size=200) | MARKUP,
    st.sampled_from(
        [None, HTML, "text/xml", "text/html; charset=utf-16", "text/html; charset=gbk"]
    ),
    st.booleans(),
)
def test_no_body_makes_it_fail(body, content_type, nofollow):
    response = page(body, content_type)

    for url in links(response, tags=("a", "img", "form"), css="*", nofollow=nofollow):
        assert url
    assert all(links(response))
    title(response)


@pytest.mark.parametrize(
    "body",
    [
        "<div>" * 100_000 + "<a href=/x>",
        "<ul><li>" * 50_000 + "<a href=/x>",
        "<span>" * 50_000 + "</i>" * 50_000 + "<a href=/x>",
        "<div></x>" * 50_000 + "<a href=/x>",
        "<a href=/x></a>" + "<a " * 200_000,
        "<a href=/x></a><img srcset='x" + "," * 200_000,
    ],
    ids=["div", "list", "stray ends", "wrong ends", "unfinished", "commas"],
)
def test_a_page_built_to_keep_the_parser_busy_does_not(body):
    urls = []

    assert takes_at_most(5, lambda: urls.extend(found(body, tags=("a", "img"))))
    assert urls[0] == "http://site.test/x"


def test_only_what_is_too_deep_is_left_out():
    well = "<section><p>text<br></section>" * 5000
    deep = "<div>" * 600 + "<b>x</b>" + "</div>" * 600 + "<!-- -->" * 5000

    assert flatten(well) == well
    assert flatten(deep) == "<div>" * 256 + "<b>x</b>" + "</div>" * 256 + "<!-- -->" * 5000


@pytest.mark.parametrize(
    ("content", "url"),
    [
        ("0; url=next.html", "next.html"),
        ("0;URL='next.html'", "next.html"),
        ('5 , Url = "next.html" and more', "next.html"),
        (" 1.5;next.html ", "next.html"),
        ("0 next.html", "next.html"),
        ("0;url='next.html", "next.html"),
        ("10", None),
        ("0;url=", None),
        ("next.html", None),
        ("0url=next.html", None),
    ],
)
def test_a_refresh_leads_to_another_page(content, url):
    quoted = content.replace('"', "&quot;")
    body = f'<META HTTP-EQUIV=Refresh CONTENT="{quoted}"><meta name=refresh content="0;url=no">'

    found = list(links(Response("http://site.test/in/", 200, {"content-type": "text/html"}, body)))

    assert found == ([] if url is None else [f"http://site.test/in/{url}"])


def test_frames_are_followed_in_their_order_among_the_anchors():
    body = "<a href=/1></a><iframe src=/2></iframe><a href=/3></a><iframe src=about:blank></iframe>"
    frames = "<frameset><frame src=/1><FRAME SRC=/2></frameset>"

    for text, numbers in ((body, "123"), (frames, "12")):
        for encoding in ("utf-8", "utf-16"):
            page = Response(
                "http://site.test/", 200, {"content-type": "text/html"}, text.encode(encoding)
            )
            assert list(links(page)) == [f"http://site.test/{number}" for number in numbers]
    assert list(links(page, tags="a")) == []


def test_a_page_may_ask_not_to_follow_its_frames():
    body = "<meta name=robots content=nofollow><meta http-equiv=refresh content='0;url=/1'>"
    page = Response("http://site.test/", 200, {"content-type": "text/html"}, body)

    assert list(links(page)) == []
    assert [list(some) for some in page.left_out] == [["http://site.test/1"]]
