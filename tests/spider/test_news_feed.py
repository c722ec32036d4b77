import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.spider.news_feed import NewsEntry, NewsFeed, parse_news_feed

from ..cpu_time import takes_at_most

URL = "http://site.test/news/feed"

RSS2 = """<?xml version="1.0"?>
<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom" xmlns:media="http://search.yahoo.com/mrss/">
<channel>
  <title>All the
    news</title>
  <link>http://site.test/</link>
  <atom:link rel="self" href="http://site.test/feed"/>
  <image><title>Logo</title><link>http://site.test/logo</link></image>
  <item>
    <media:title>Not this</media:title>
    <title>Cats &amp; dogs</title>
    <link>http://site.test/1?a=1&amp;b=2</link>
    <atom:link rel="alternate" href="http://site.test/not"/>
    <guid isPermaLink="false">one</guid>
    <pubDate>Mon, 06 May 2024 10:00:00 GMT</pubDate>
    <description><![CDATA[<title>no</title><link>http://site.test/no</link>]]></description>
  </item>
  <item><guid>http://site.test/2</guid></item>
</channel></rss>
"""
RSS1 = """<?xml version="1.0"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"
  xmlns:dc="http://purl.org/dc/elements/1.1/">
  <channel rdf:about="http://site.test/"><title>Old</title><items><rdf:Seq/></items></channel>
  <item rdf:about="http://site.test/1"><title>One</title><link>http://site.test/1</link>
    <dc:date>2004-05-06</dc:date></item>
</rdf:RDF>
"""
RSS09 = """<rdf:RDF xmlns="http://my.netscape.com/rdf/simple/0.9/"><channel><title>Older</title></channel>
<item><title>One</title><link>http://site.test/1</link></item></rdf:RDF>"""
ATOM = """<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
  <title type="text">Atoms</title><link rel="self" href="/self"/><link href="/"/>
  <entry>
    <link rel="edit" href="/edit"/><link rel="enclosure" href="/sound"/>
    <link rel="alternate" type="text/html" href="/1"/><link href="/other"/>
    <id>urn:1</id><updated>2024-05-07</updated><published>2024-05-06</published>
    <title type="xhtml"><div>A <b>bold</b> title</div></title>
    <source><title>Elsewhere</title><id>urn:no</id></source>
  </entry>
  <entry><id>urn:2</id><updated>2024</updated></entry>
</feed>
"""


def feed(body, url=URL):
    return parse_news_feed(body.encode() if isinstance(body, str) else body, url)


def links(body, url=URL):
    return [entry.link for entry in feed(body, url).entries]


def rss(link):
    return f"<rss><channel><item>{link}</item></channel></rss>"


# -- what it reads ----------------------------------------------------------------------------


def test_rss_2():
    date = "Mon, 06 May 2024 10:00:00 GMT"

    assert feed(RSS2) == NewsFeed(
        "All the news",
        (
            NewsEntry("http://site.test/1?a=1&b=2", "Cats & dogs", date, "one"),
            NewsEntry("http://site.test/2", id="http://site.test/2"),
        ),
    )


def test_rss_1():
    entry = NewsEntry("http://site.test/1", "One", "2004-05-06", "http://site.test/1")

    assert feed(RSS1) == NewsFeed("Old", (entry,))


def test_rss_09():
    assert feed(RSS09) == NewsFeed("Older", (NewsEntry("http://site.test/1", "One"),))


def test_atom():
    assert feed(ATOM) == NewsFeed(
        "Atoms",
        (
            NewsEntry("http://site.test/1", "A bold title", "2024-05-06", "urn:1"),
            NewsEntry(None, None, "2024", "urn:2"),
        ),
    )


def test_a_feed_whose_names_are_all_prefixed():
    body = "<a:feed xmlns:a='x'><a:title>t</a:title><a:entry><a:link href='/1'/><a:id>1</a:id></a:entry></a:feed>"

    assert feed(body) == NewsFeed("t", (NewsEntry("http://site.test/1", id="1"),))


@pytest.mark.parametrize(
    "body", ["", "plain", "<html><title>no feed</title></html>", "<urlset/>", "\0"]
)
def test_what_is_no_feed_has_no_entries(body):
    assert feed(body) == NewsFeed(None, ())


def test_the_encoding_is_that_of_the_header_or_of_the_document():
    body = "<rss><channel><title>Ελλάδα</title></channel></rss>".encode("iso-8859-7")
    declared = b'<?xml version="1.0" encoding="iso-8859-7"?>' + body

    assert parse_news_feed(body, URL, content_type="text/xml; charset=iso-8859-7").title == "Ελλάδα"
    assert parse_news_feed(declared, URL).title == "Ελλάδα"


# -- where the links lead ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        ("<link>/1</link>", "http://site.test/1"),
        ("<link> 1 </link>", "http://site.test/news/1"),
        ("<link>?p=1</link>", "http://site.test/news/feed?p=1"),
        ("<link><![CDATA[/1?a&b]]></link>", "http://site.test/1?a&b"),
        ("<link>/1?a=1&b=2</link>", "http://site.test/1?a=1&b=2"),
        ("<link>http://[bad</link>", "http://[bad"),
        ("<link/><guid>http://site.test/g</guid>", "http://site.test/g"),
        ("<guid isPermaLink='false'>http://site.test/g</guid>", None),
        ("<guid>123</guid>", None),
        ("<link></link>", None),
    ],
)
def test_a_link_is_joined_to_the_address_of_the_feed(link, expected):
    assert links(rss(link)) == [expected]


def test_xml_base_counts_for_what_is_inside():
    body = """<feed xml:base="http://other.test/a/"><entry><link href="1"/></entry>
        <entry xml:base="b/"><link href="2"/><link xml:base="/c/" href="no"/></entry>
        <entry xml:base="b/"><link xml:base="/c/" href="3"/></entry></feed>"""

    assert links(body) == [
        "http://other.test/a/1",
        "http://other.test/a/b/2",
        "http://other.test/c/3",
    ]


def test_without_an_address_links_stay_as_they_are():
    assert links(rss("<link>/1</link>"), url="") == ["/1"]
    assert links(rss("<link>http://site.test/1</link>"), url="") == ["http://site.test/1"]


# -- what is broken, and what is hostile ------------------------------------------------------


def test_a_broken_feed_is_read_as_far_as_it_goes():
    cut = RSS2[: RSS2.index("<guid>http")]

    assert links(cut) == ["http://site.test/1?a=1&b=2", None]
    assert links(RSS2.replace("</item>", "")) == [
        "http://site.test/1?a=1&b=2",
        "http://site.test/2",
    ]
    assert links("<rss><item><link>/1</link><title>caf&eacute; & <b>x</item>") == [
        "http://site.test/1"
    ]


def test_entities_are_neither_expanded_nor_fetched(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("hidden")
    laughs = "".join(f'<!ENTITY l{n + 1} "{f"&l{n};" * 10}">' for n in range(9))
    dtd = f'<!DOCTYPE x [<!ENTITY l0 "ha">{laughs}<!ENTITY e SYSTEM "{secret.as_uri()}">]>'

    [entry] = feed(dtd + rss("<title>&l9;&e;</title>")).entries

    assert entry.title == "&l9;&e;"


@given(
    st.binary(max_size=200)
    | st.lists(
        st.sampled_from(
            b"<rss> <item> </item> <link> </link> <link/> <guid> http:// <title> < > & ' = <!-- <![CDATA[ ]]> "
            b"<entry xml:base=' <feed> / href= [ &#0; &#xFFFFFF;".split()
        )
    ).map(b"".join),
    st.sampled_from([URL, "", "no"]),
)
def test_no_body_makes_it_fail(body, url):
    parsed = parse_news_feed(body, url)

    assert all(entry.link != "" for entry in parsed.entries)


@pytest.mark.parametrize(
    "piece", ["<item>", "<item><link ", "<item a='", "<title>", "<link href='x'/>", "&#1;"]
)
def test_reading_takes_time_in_proportion_to_the_size(piece):
    body = "<rss><channel><item>" + piece * 20_000

    assert takes_at_most(5, lambda: feed(body))
