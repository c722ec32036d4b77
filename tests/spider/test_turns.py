import gevent
import pytest

from crawler.bench.sites.hostile_pages import PAGES
from crawler.spider import Page
from crawler.spider.turns import in_turns


def turns_during(work):
    """Return how often another greenlet runs while *work* is done."""
    turns = 0

    def run():
        nonlocal turns
        while True:
            turns += 1
            gevent.sleep(0)

    other = gevent.spawn(run)
    work()
    counted = turns  # it runs once more to be killed
    other.kill()
    return counted


def test_others_run_after_every_few_thousand_steps():
    assert turns_during(lambda: list(in_turns(range(40_960)))) == 10
    assert turns_during(lambda: list(in_turns(range(4095)))) == 0


def test_the_steps_stay_the_same():
    assert list(in_turns("abc")) == ["a", "b", "c"]


@pytest.mark.parametrize("name", ["news", "news without an end", "news with fields", "<div>"])
def test_others_run_while_a_long_page_is_read(name):
    hostile = PAGES[name]
    page = Page(
        "http://site.test/", 200, {"content-type": hostile.content_type}, hostile.body(300_000)
    )

    assert turns_during(lambda: list(page.links())) >= 3
