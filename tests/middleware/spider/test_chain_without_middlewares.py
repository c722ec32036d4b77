"""A callback without middlewares takes a shorter path, with the same result as the general one."""

from dataclasses import dataclass

import gevent
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.data import Request, Response
from crawler.errors import FetchError
from crawler.middleware.spider.chain import SpiderChain

URL = "http://site.test/"
PAGE = Response(URL, 200, request=Request(URL, depth=3))


@dataclass
class Book:
    title: str


FOUND = [None, "/a", "", Request("/b"), {"n": 1}, {}, Book("x"), (1, 2), 7]
FAILURES = [ValueError("no"), KeyError("x"), gevent.Timeout(9), FetchError("timeout", "late")]
ENDS = [gevent.GreenletExit(), KeyboardInterrupt(), SystemExit(3)]


class Spider:
    """Returns *found* in one of the ways a callback may, and raises *failure* if given."""

    def __init__(self, found, way, failure):
        self.found = found
        self.way = way
        self.failure = failure
        self.closed = 0

    def parse(self, _):
        if self.way == "one":
            self._fail()
            return self.found[0] if self.found else None
        if self.way == "list":
            self._fail()
            return list(self.found)
        given = self._generated()
        return given if self.way == "generator" else filter(lambda _: True, given)

    errback = parse

    def _generated(self):
        try:
            yield from self.found
            self._fail()
        finally:
            self.closed += 1

    def _fail(self):
        if self.failure is not None:
            raise self.failure


def outcome(spider, call, most, *, timed):
    """Take up to *most* elements; return them, what was raised, what was counted and closed."""
    chain = SpiderChain([], spider)
    chain.timed = timed
    found, raised = [], None
    try:
        if call == "response":
            findings = chain.response(PAGE, spider.parse)
        else:
            findings = chain.error(FetchError("dns", "no host"), PAGE.request, spider.errback)
        for one in findings:
            found.append(one)
            if len(found) == most:
                break
        findings.close()
    except BaseException as error:
        raised = error
    figures = {
        name: (hook.calls, hook.drops, hook.failures) for name, hook in chain.figures.items()
    }
    return [one for one in found if one is not None], raised, figures, spider.closed


@given(
    found=st.lists(st.sampled_from(FOUND), max_size=6),
    way=st.sampled_from(["one", "list", "generator", "iterator"]),
    failure=st.sampled_from([None, None, *FAILURES, *ENDS]),
    call=st.sampled_from(["response", "error"]),
)
def test_the_short_way_gives_and_counts_what_the_long_way_does(found, way, failure, call):
    short = outcome(Spider(found, way, failure), call, None, timed=False)
    long = outcome(Spider(found, way, failure), call, None, timed=True)

    assert short == long
    assert short[1] is failure


@given(found=st.lists(st.sampled_from(FOUND[1:]), min_size=1, max_size=6), data=st.data())
@pytest.mark.parametrize("way", ["list", "generator", "iterator"])
def test_given_up_halfway_both_ways_have_given_and_closed_the_same(way, found, data):
    most = data.draw(st.integers(1, len(found)))
    short = outcome(Spider(found, way, None), "response", most, timed=False)
    long = outcome(Spider(found, way, None), "response", most, timed=True)

    assert short == long
    assert short[3] == (way != "list")


def test_a_failure_is_counted_on_either_way():
    for timed in (False, True):
        *_, figures, _ = outcome(Spider([], "list", ValueError()), "response", None, timed=timed)

        assert figures == {("Spider", "parse"): (1, 0, 1)}
