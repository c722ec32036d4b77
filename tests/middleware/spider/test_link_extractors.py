import pytest

from crawler.data import Response
from crawler.middleware import NewsFeedLinkExtractor, RegexLinkExtractor

from .chains import HOME, collect, html, opened, urls, xml

SHOP = """<base href="/shop/"><a href="product.php?id=1">1</a> <a href=" product.php?id=2 ">2</a>
<area href="/category.php"><a href="#top">top</a><a>none</a><a href="http://[">bad</a>
<a href="/about">about</a>"""


def test_links_are_followed_in_which_a_pattern_is_found():
    chain = opened(RegexLinkExtractor, url_regexes_to_follow=[r"/product\.php\?.*", "category"])

    assert urls(chain, html(SHOP)) == [
        HOME + "shop/product.php?id=1",
        HOME + "shop/product.php?id=2",
        HOME + "category.php",
    ]


def test_patterns_that_are_given_go_before_those_of_the_spider():
    chain = opened(RegexLinkExtractor(["about"]), url_regexes_to_follow=["product"])

    assert urls(chain, html(SHOP)) == [HOME + "about"]


@pytest.mark.parametrize(
    ("content_type", "number"),
    [("text/html", 1), ("application/xhtml+xml; charset=x", 1), ("", 1), ("text/plain", 0)],
)
def test_only_html_has_links(content_type, number):
    headers = {"content-type": content_type} if content_type else {}
    response = Response(HOME, 200, headers, b"<a href=/a>a</a>")

    assert len(urls(opened(RegexLinkExtractor([""])), response)) == number


@pytest.mark.parametrize(
    ("attributes", "reason"),
    [
        ({}, "RegexLinkExtractor needs url_regexes_to_follow"),
        ({"url_regexes_to_follow": "product"}, "must be a list, not just 'product'"),
        ({"url_regexes_to_follow": ["(product"]}, "is not a regular expression"),
    ],
)
def test_patterns_that_cannot_be_meant_are_errors_at_the_start(attributes, reason):
    with pytest.raises(ValueError, match=reason):
        opened(RegexLinkExtractor, **attributes)


RSS = """<?xml version="1.0"?>
<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel>
<title>News</title><link>http://site.test/</link>
<atom:link rel="self" href="http://site.test/feed"/>
<item><title>One&nbsp;1</title><link> http://site.test/1?a=1&amp;b=2 </link></item>
<item><title>Two</title><link><![CDATA[/2]]></link><media:group undeclared="yes"/></item>
<item><title>None</title><link/></item>
</channel></rss>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><link href="http://site.test/"/>
<entry><link rel="edit" href="/edit"/><link href="/a"/></entry>
<entry><link rel="alternate" href="/b"/><link rel="enclosure" href="/b.mp3"/></entry></feed>"""
RDF = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
xmlns="http://purl.org/rss/1.0/"><channel><link>http://site.test/</link></channel>
<item><link>http://site.test/r</link></item></rdf:RDF>"""


@pytest.mark.parametrize(
    ("text", "found"),
    [(RSS, ["1?a=1&b=2", "2"]), (ATOM, ["a", "b"]), (RDF, ["r"])],
    ids=["rss", "atom", "rdf"],
)
@pytest.mark.parametrize(
    "content_type", ["application/rss+xml; charset=utf-8", "Text/XML", "application/atom+xml"]
)
def test_the_items_of_a_feed_are_followed(text, found, content_type):
    chain = opened(NewsFeedLinkExtractor)

    assert urls(chain, xml(text, content_type)) == [HOME + path for path in found]


def test_a_feed_is_read_in_its_own_encoding():
    text = '<?xml version="1.0" encoding="iso-8859-1"?><rss><item><link>/ü</link></item></rss>'
    response = Response(HOME, 200, {"content-type": "text/xml"}, text.encode("latin-1"))

    assert urls(opened(NewsFeedLinkExtractor), response) == [HOME + "%C3%BC"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no xml",
        "<urlset><url><loc>http://site.test/</loc></url></urlset>",
        "<!DOCTYPE html><html><item><link>/a</link></item><br></html>",
        "<html><item><link>/a</link></item>",
        "<!DOCTYPE svg [<!ENTITY a 'a'>]><svg/>",
    ],
)
def test_what_is_no_feed_gives_nothing_and_fails_nothing(text):
    assert urls(opened(NewsFeedLinkExtractor), xml(text, "text/xml")) == []


def test_a_page_of_html_is_no_feed():
    assert urls(opened(NewsFeedLinkExtractor), html(RSS)) == []


def test_of_a_broken_feed_what_stands_before_the_break_is_followed():
    text = "<rss><item><link>/1</link></item><item><link>/2</link></oops>"

    found, error = collect(opened(NewsFeedLinkExtractor).response(xml(text), lambda _: None))

    assert [request.url for request in found] == [HOME + "1", HOME + "2"]
    assert error is None


@pytest.mark.parametrize(
    "declared",
    [
        '<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">',
        '<!ENTITY a SYSTEM "file:///etc/passwd">',
        '<!ENTITY % a SYSTEM "http://other.test/">',
    ],
)
def test_entities_a_feed_declares_are_not_unfolded(declared):
    text = f"<!DOCTYPE rss [{declared}]><rss><item><link>/&a;</link></item></rss>"

    found, error = collect(opened(NewsFeedLinkExtractor).response(xml(text), lambda _: None))

    assert [request.url for request in found] == [HOME + "&a;"]
    assert error is None


def test_a_long_feed_gives_its_first_links_before_it_is_read_to_the_end():
    items = "".join(f"<item><link>/{n}</link></item>" for n in range(4_000))
    flow = opened(NewsFeedLinkExtractor).response(xml(f"<rss>{items}</rss>"), lambda _: None)

    assert next(flow).url == HOME + "0"
    assert sum(1 for _ in flow) == 3_999
