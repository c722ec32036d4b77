"""Pages made to keep a reader busy: twice the page takes at most three times the time."""

from time import process_time

import pytest

from crawler.bench.sites.hostile_pages import PAGES
from crawler.spider import Page

#: Seconds within which a page is read: less cannot be measured well.
NOTHING = 0.002


def read(page):
    """Do what a crawl does with a page."""
    return page.title, sum(1 for _ in page.links())


def select(page):
    return len(page.css("title"))


def cpu(act, hostile, size):
    kind = {"content-type": hostile.content_type}
    page = Page("http://site.test/a/b", 200, kind, hostile.body(size))
    began = process_time()
    act(page)
    return process_time() - began


def is_linear(act, hostile, size):
    """Return whether one of ten tries takes at most three times as long for twice the size."""
    tries = range(10)
    return any(cpu(act, hostile, 2 * size) <= 3 * cpu(act, hostile, size) + NOTHING for _ in tries)


@pytest.mark.parametrize("act", [read, select])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_twice_as_long_takes_at_most_three_times_as_long(name, act):
    assert is_linear(act, PAGES[name], 30_000)


@pytest.mark.long
@pytest.mark.parametrize("act", [read, select])
@pytest.mark.parametrize("name", PAGES)
def test_a_megabyte_takes_at_most_three_times_as_long_as_half_of_it(name, act):
    assert is_linear(act, PAGES[name], 500_000)
