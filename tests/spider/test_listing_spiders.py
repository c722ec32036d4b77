import gzip

from crawler import crawl
from crawler.spider import NewsFeedSpider, SitemapSpider
from crawler.testing import Reply, Site

FREE = {"delay": 0, "robots": False, "retries": 1}


def urlset(*urls):
    return "<urlset>" + "".join(f"<url><loc>{url}</loc></url>" for url in urls) + "</urlset>"


XML = {"Content-Type": "application/xml"}
PAGES = {
    "/robots.txt": "User-agent: *\nSitemap: http://site.test/index.xml\nsitemap: /more.xml",
    "/index.xml": Reply(
        200,
        XML,
        "<sitemapindex><sitemap><loc>http://site.test/a.xml.gz</loc></sitemap></sitemapindex>",
    ),
    "/a.xml.gz": Reply(
        200,
        {"Content-Type": "application/gzip"},
        gzip.compress(urlset("http://site.test/p/1", "http://site.test/q/2").encode()),
    ),
    "/more.xml": Reply(200, XML, urlset("http://site.test/p/3")),
    "/p/1": "<title>1</title>",
    "/q/2": "<title>2</title>",
    "/p/3": "<title>3</title>",
}


class Titles(SitemapSpider):
    sitemap_urls = ["http://site.test/robots.txt"]

    def parse(self, response):
        yield {"title": response.title}

    def parse_q(self, response):
        yield {"q": response.title}


def test_sitemaps_listed_in_robots_txt_are_read_through_lists_and_gzip():
    items = crawl(Titles(), fetch=Site(PAGES), **FREE).items

    assert sorted(item["title"] for item in items) == ["1", "2", "3"]


def test_rules_choose_the_callback_by_url():
    class Ruled(Titles):
        sitemap_rules = (("/q/", "parse_q"), ("/p/1", "parse"))

    items = crawl(Ruled(), fetch=Site(PAGES), **FREE).items

    assert sorted(map(str, items)) == ["{'q': '2'}", "{'title': '1'}"]


def test_a_filter_chooses_by_the_fields_of_an_entry():
    class New(Titles):
        sitemap_urls = ["http://site.test/dated.xml"]

        def sitemap_filter(self, entries):
            return (entry for entry in entries if entry.get("lastmod", "") >= "2020")

    dates = {"p/1": "<lastmod>2019-01-01</lastmod>", "p/3": "<lastmod>2021-01-01</lastmod>"}
    entries = "".join(
        f"<url><loc>http://site.test/{path}</loc>{dates.get(path, '')}</url>"
        for path in ("p/1", "q/2", "p/3")
    )
    dated = {**PAGES, "/dated.xml": Reply(200, XML, f"<urlset>{entries}</urlset>")}

    assert crawl(New(), fetch=Site(dated), **FREE).items == [{"title": "3"}]


def test_only_wanted_sitemaps_are_followed():
    class Few(Titles):
        sitemap_follow = ("nothing",)

    items = crawl(Few(), fetch=Site(PAGES), **FREE).items

    assert [item["title"] for item in items] == ["3"]


FEED = """<rss><channel><title>News</title>
<item><title>One</title><link>/one</link></item>
<item><title>Two</title><link>http://site.test/two</link></item>
</channel></rss>"""


def test_the_entries_of_a_feed_are_items():
    site = Site({"/feed": Reply(200, {"Content-Type": "application/rss+xml"}, FEED)})

    items = crawl(NewsFeedSpider(start_urls=["http://site.test/feed"]), fetch=site, **FREE).items

    assert [(item["title"], item["link"]) for item in items] == [
        ("One", "http://site.test/one"),
        ("Two", "http://site.test/two"),
    ]


def test_an_entry_may_be_followed():
    class Articles(NewsFeedSpider):
        start_urls = ["http://site.test/feed"]

        def parse_entry(self, response, entry):
            yield response.follow(entry.link, callback="parse_article")

        def parse_article(self, response):
            yield {"title": response.title}

    site = Site(
        {
            "/feed": Reply(200, {"Content-Type": "application/rss+xml"}, FEED),
            "/one": "<title>1</title>",
            "/two": "<title>2</title>",
        }
    )

    items = crawl(Articles(), fetch=site, **FREE).items

    assert sorted(item["title"] for item in items) == ["1", "2"]
