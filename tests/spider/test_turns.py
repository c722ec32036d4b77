import re

import gevent
import pytest

from crawler.bench.sites.hostile_pages import PAGES
from crawler.spider import Page
from crawler.spider.turns import in_parts, in_turns


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


def test_others_run_after_every_some_steps():
    assert turns_during(lambda: list(in_turns(range(10_240)))) >= 40
    assert turns_during(lambda: list(in_turns(range(255)))) == 0


def test_others_run_after_each_part_of_a_sequence():
    numbers = list(range(10_240))

    assert turns_during(lambda: list(in_parts(numbers))) >= 10
    assert turns_during(lambda: list(in_parts(numbers[:1024]))) == 0
    assert [number for part in in_parts(numbers) for number in part] == numbers


def test_of_several_long_pages_one_goes_on_at_a_time():
    """Others run between the turns of any two of them."""
    order = []

    def work(name):
        for number in in_turns(range(2048)):
            if number >= 1024 and not number % 256:
                order.append(name)

    def other():
        while sum(name != "." for name in order) < 12:
            order.append(".")
            gevent.sleep(0)

    gevent.joinall(
        [gevent.spawn(work, name) for name in "abc"] + [gevent.spawn(other)], timeout=120
    )

    # At first, each goes on to the end of its first turn.
    assert not re.search("[abc][abc]", "".join(order).removeprefix("abc"))


def test_no_page_waits_for_the_end_of_a_longer_one():
    longer = gevent.spawn(list, in_turns(range(50_000_000)))
    try:
        gevent.sleep(0.1)  # it has the turnstile by then
        page = gevent.spawn(list, in_turns(range(5000)))
        assert page.join(timeout=120) is None
        assert page.ready()
        assert not longer.ready()
    finally:
        longer.kill()


def test_the_steps_stay_the_same():
    assert list(in_turns("abc")) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("name", "length"),
    [("news", 100), ("news without an end", 100), ("news with fields", 100), ("<div>", 1800)],
)
def test_others_run_while_a_long_page_is_read(name, length):
    hostile = PAGES[name]
    body = hostile.body(length * 1000)
    page = Page("http://site.test/", 200, {"content-type": hostile.content_type}, body)

    assert turns_during(lambda: list(page.links())) >= 3
