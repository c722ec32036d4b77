"""The quick answer about a link is the one that finding out would give."""

import sqlite3
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import gevent
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.data import Link, Links, Response
from crawler.frontier import (
    DONE,
    Frontier,
    Politeness,
    Scope,
    SqliteJournal,
)

URLS = [
    "http://a.test/",
    "http://a.test/x",
    "http://a.test/x#part",
    "http://a.test/drop",
    "http://a.test/" + "long" * 600,
    "http://a.test/a/a/a/a/a",
    "http://b.test/",
    "mailto:somebody",
    "http://[",
]
AT_ONCE = Politeness(robots=False, delay=0.0, per_host=100, latency_factor=0.0)


def scope(max_depth):
    return Scope(["a.test"], max_depth, exclude=["drop"])


def frontier(max_depth):
    return Frontier(scope(max_depth), politeness=AT_ONCE)


@contextmanager
def durable(folder, max_depth, window=50_000):
    journal = SqliteJournal(Path(folder) / "state.db", window=window)
    crawl = Frontier(scope(max_depth), politeness=AT_ONCE, journal=journal)
    try:
        yield crawl
    finally:
        crawl.close()
        journal.close()


def key(url):
    """Return what a store takes for the same URL."""
    return url.partition("#")[0]


def written(folder, near):
    """
    Return what a store says of each URL, but for its number and the time.

    Of a URL that was met *near* enough once, the quick way need not write that it was also
    met too deep: it was let in, or was turned away for something else.
    """
    rows = "SELECT url, depth, found_on, status, reason FROM urls ORDER BY url, status, depth"
    with closing(sqlite3.connect(Path(folder) / "state.db")) as connection:
        found = connection.execute(rows).fetchall()
    return [row for row in found if not (row[-1] == "depth" and key(row[0]) in near)]


def turned_away(crawl, url, depth):
    """Do what a frontier does with a link, but leave one that is unknown alone."""
    return not list(crawl._links.unknown(Links([url], depth, "http://a.test/")))


def visit(crawl):
    """Take what is next, if anything waits, and settle it; return what it was."""
    if not len(crawl.view):
        return None
    with gevent.Timeout(120, AssertionError(f"{crawl} lets nothing be taken")):
        taken = crawl.take()
    request = taken.request
    crawl.fetched(taken, Response(request.url, 200, request=request))
    crawl.settle(taken, DONE)
    return request.url, request.depth


def cut_off(crawl):
    """Let nothing more be taken; what waits in the store only is read, and ends as well."""
    crawl.cut_off("page_limit")
    assert crawl.join(120)


def play(steps, quick, slow):
    """Let both meet the same links, and fetch and end at the same moments."""
    for step in steps:
        if step == "visit":
            assert visit(quick) == visit(slow)
        elif step == "cut off":
            cut_off(quick)
            cut_off(slow)
        else:
            url, depth = step
            quick.admit_many(Links([url], depth, "http://a.test/"))
            slow.admit(Link(url, depth, "http://a.test/"))
    assert quick.view.counts() == slow.view.counts()
    assert len(quick.view) == len(slow.view)


links = st.tuples(st.sampled_from(URLS), st.integers(1, 5))
steps = st.lists(st.one_of(links, links, links, st.just("visit"), st.just("cut off")), max_size=30)
max_depths = st.sampled_from([None, 2, 3])
#: How many answers are remembered: so few that most are forgotten, and as many as there are.
many = st.sampled_from([1, 2, 3, 1000])


@contextmanager
def remembering(most):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("crawler.frontier.admission.link_filter._MOST", most)
        yield


@given(steps, max_depths, many)
def test_quick_and_slow_say_the_same(steps, max_depth, most):
    with remembering(most):
        play(steps, frontier(max_depth), frontier(max_depth))


@settings(max_examples=20)
@given(steps, steps, max_depths, st.sampled_from([1, 3, 50_000]), many)
def test_quick_and_slow_say_and_write_the_same_in_a_store(steps, later, max_depth, window, most):
    met = [step for step in (*steps, *later) if isinstance(step, tuple)]
    near = {key(url) for url, depth in met if max_depth is None or depth <= max_depth}
    with TemporaryDirectory() as one, TemporaryDirectory() as other, remembering(most):
        for some in (steps, later):
            with (
                durable(one, max_depth, window) as quick,
                durable(other, max_depth, window) as slow,
            ):
                play(some, quick, slow)
            assert written(one, near) == written(other, near)


@pytest.mark.parametrize("most", [1, 3])
def test_no_more_verdicts_are_remembered_than_there_is_room_for(most):
    found = [(url, depth) for depth in (3, 2, 1) for url in (*URLS, *reversed(URLS))]
    one = frontier(2)

    with remembering(most):
        for url, depth in found:
            one.admit(Link(url, depth, None))

    assert 0 < len(one._links) <= most


@pytest.mark.parametrize("max_depth", [None, 3])
def test_what_was_seen_and_is_forgotten_is_known_again(max_depth):
    one = frontier(max_depth)
    with remembering(1):
        one.admit(Link("http://a.test/x", 2, None))
        one.admit(Link("http://a.test/y", 2, None))
        visit(one)

        assert turned_away(one, "http://a.test/x", 1)
        # It waits, and where depth matters it may wait nearer to the start.
        assert turned_away(one, "http://a.test/y", 1) == (max_depth is None)
        assert turned_away(one, "http://a.test/x#part", 1)
        assert not turned_away(one, "http://a.test/new", 1)


def test_what_an_earlier_process_has_seen_is_known_and_what_is_out_of_scope_now_is_not(tmp_path):
    with durable(tmp_path, None) as one:
        one.admit(Link("http://a.test/x", 1, None))
    with durable(tmp_path, None) as one:
        assert turned_away(one, "http://a.test/x", 1)
    journal = SqliteJournal(tmp_path / "state.db")
    narrower = Scope(["a.test"], None, exclude=["x"])
    with (
        closing(journal),
        closing(Frontier(narrower, journal=journal)) as one,
        remembering(1),
    ):
        assert not turned_away(one, "http://a.test/x", 1)
        assert one.admit(Link("http://a.test/y", 1, None)) is None
        assert one.admit(Link("http://a.test/z", 1, None)) is None
        assert not turned_away(one, "http://a.test/x", 1)
        assert one.admit(Link("http://a.test/x", 1, None)) == "exclude"


def test_what_was_let_in_is_known_at_once():
    one = frontier(None)
    one.admit(Link(URLS[0], 1, None))

    assert turned_away(one, URLS[0], 1)
    assert one.view.counts().turned_away == {"seen": 1}


def test_what_nobody_has_met_is_not_answered():
    assert not turned_away(frontier(None), URLS[0], 1)


def test_links_left_out_are_counted_although_the_others_were_not_asked_for():
    one = frontier(None)
    one.admit_many(Links(["/x", "/y", "/x"], 1, "http://a.test/"))
    assert one.view.counts().turned_away == {"seen": 1}

    links = Links(["http://a.test/x", "/new", "http://a.test/y"], 1, "http://a.test/")
    unknown = one._links.unknown(links)
    assert next(unknown) == Link("http://a.test/new", 1, "http://a.test/")
    unknown.close()

    assert one.view.counts().turned_away == {"seen": 3}


def test_a_link_that_one_page_has_twice_is_let_in_once():
    one = frontier(None)

    one.admit_many(Links(["/new", "http://a.test/new", "/new#top", "/new"], 1, "http://a.test/"))

    assert one.view.counts().admitted == 1
    assert one.view.counts().turned_away == {"seen": 3}


def test_links_to_the_parts_of_a_page_are_remembered_as_one():
    crawl = frontier(max_depth=None)

    parts = [f"http://a.test/x#part{number}" for number in range(1000)]
    crawl.admit_many(Links(parts, 1, "http://a.test/"))

    assert len(crawl._links) == 1
    assert crawl.view.counts().turned_away == {"seen": 999}
    assert crawl.view.counts().pending == 1
