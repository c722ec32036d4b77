"""Pages made to keep a reader busy: twice the page takes at most three times the time."""

import pytest

from crawler.bench.sites.hostile_pages import PAGES
from crawler.spider import Page

from ..cpu_time import grows_linearly


def read(page):
    """Do what a crawl does with a page."""
    return page.title, sum(1 for _ in page.links())


def select(page):
    return len(page.css("title"))


def is_linear(act, hostile, size):
    kind, bodies = {"content-type": hostile.content_type}, {}

    def work(size):
        body = bodies.setdefault(size, hostile.body(size))
        act(Page("http://site.test/a/b", 200, kind, body))

    return grows_linearly(work, size)


@pytest.mark.parametrize("act", [read, select])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_twice_as_long_takes_at_most_three_times_as_long(name, act):
    assert is_linear(act, PAGES[name], 30_000)


@pytest.mark.long
@pytest.mark.parametrize("act", [read, select])
@pytest.mark.parametrize("name", PAGES)
def test_a_megabyte_takes_at_most_three_times_as_long_as_half_of_it(name, act):
    assert is_linear(act, PAGES[name], 500_000)
