"""Pages made to keep a reader busy: twice the page takes at most three times the time."""

import gevent
import pytest

from crawler.bench.sites.hostile_pages import PAGES
from crawler.spider import LinkExtractor, Page, SitemapSpider

from ..cpu_time import costs_at_most, grows_linearly


def read(page):
    """Do what a crawl does with a page."""
    return page.title, sum(1 for _ in page.links())


def select(page):
    return len(page.css("title"))


def is_linear(act, hostile, size):
    """Return whether it takes time in proportion to the *size*, or to twice that.

    From some length on a page is read in another way, which takes longer, once.
    """
    kind, bodies = {"content-type": hostile.content_type}, {}

    def work(size):
        body = bodies.setdefault(size, hostile.body(size))
        act(Page("http://site.test/a/b", 200, kind, body))

    return grows_linearly(work, size) or grows_linearly(work, 2 * size)


@pytest.mark.parametrize("act", [read, select])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_twice_as_long_takes_at_most_three_times_as_long(name, act):
    assert is_linear(act, PAGES[name], 30_000)


@pytest.mark.long
@pytest.mark.parametrize("act", [read, select])
@pytest.mark.parametrize("name", PAGES)
def test_a_megabyte_takes_at_most_three_times_as_long_as_half_of_it(name, act):
    assert is_linear(act, PAGES[name], 500_000)


@pytest.mark.parametrize("end", ["", "\v", "\N{NO-BREAK SPACE}"])
def test_a_srcset_of_commas_is_read_in_linear_time(end):
    def work(size):
        text = f"<img srcset='x{',' * size}{end}'>".encode()
        page = Page("http://site.test/", 200, {"content-type": "text/html"}, text)
        assert list(page.links(tags="img"))

    assert grows_linearly(work, 5000)


@pytest.mark.parametrize("region", [{"restrict_css": "div"}, {"restrict_xpaths": "//div"}])
def test_the_links_of_regions_inside_of_each_other_are_read_once(region):
    deep = 400
    links = "".join(f"<a href=/{n}>x</a>" for n in range(deep))
    text = f"{'<div>' * deep}{links}{'</div>' * deep}".encode()

    def extract(**region):
        page = Page("http://site.test/", 200, {"content-type": "text/html"}, text)
        assert len(LinkExtractor(**region).extract_links(page)) == deep

    extract(**region)  # once: it imports what it needs
    assert costs_at_most(30, lambda: extract(**region), extract)


@pytest.mark.parametrize("line", ["\n", " \t", "sitemap", "sitemap:\n", "sitemap :\r"])
def test_the_sitemaps_of_a_robots_txt_are_found_in_linear_time(line):
    def work(size):
        page = Page("http://site.test/robots.txt", 200, {}, line.encode() * size)
        assert not list(SitemapSpider().parse_sitemap(page))

    assert grows_linearly(work, 5000)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("text/html", f"<base href='/{'a' * 50_000}/'>" + "<a href=b>" + "<a href='?c'>"),
        ("application/atom+xml", f"<feed xml:base='/{'a' * 50_000}/'><entry><link href='b'/>"),
        ("application/atom+xml", "<feed xml:base='folder/'>" * 5000 + "<entry><link href='b'/>"),
    ],
    ids=["a base", "a base of news", "bases inside bases"],
)
def test_no_base_makes_all_links_of_a_page_long(kind, text):
    page = Page("http://site.test/a/b", 200, {"content-type": kind}, text.encode())

    assert max(map(len, page.links())) < 2200


def test_a_page_of_another_host_does_not_wait_for_the_end_of_a_longer_one():
    def reading(body, kind):
        page = Page("http://site.test/", 200, {"content-type": kind}, body)
        return gevent.spawn(lambda: sum(1 for _ in page.links()))

    longer = reading(b"<urlset>" + b"<url><loc>" * 1_000_000, "application/xml")
    try:
        gevent.sleep(0.2)  # it is among the long pages by then
        other = reading(b"".join(b"<a href=/%d>x</a>" % n for n in range(3000)), "text/html")
        assert other.get(timeout=120) == 3000
        assert not longer.ready()
    finally:
        longer.kill()
