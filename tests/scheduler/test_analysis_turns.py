"""Pages are analysed beside each other, and a suspect by itself."""

import gevent
import pytest

from crawler.data import Request
from crawler.frontier import Frontier, Scope, Taken
from crawler.frontier.hosts.host import Host
from crawler.scheduler.analysis_turns import AnalysisTurns


@pytest.fixture
def turns():
    with gevent.Timeout(120):
        yield AnalysisTurns(Frontier(Scope(accepted_domains=["a.test"])))


def page(n, *, is_suspect=False):
    return Taken(Request(f"http://a.test/{n}"), Host("a.test"), is_suspect=is_suspect)


def test_pages_are_analysed_beside_each_other(turns):
    pages = [page(n) for n in range(3)]

    for one in pages:
        turns.enter(one)

    assert all(one in turns for one in pages)


def test_a_suspect_waits_for_those_under_analysis_and_the_others_wait_for_it(turns):
    first, suspect, later = page(1), page(2, is_suspect=True), page(3)
    turns.enter(first)
    entering = [gevent.spawn(turns.enter, one) for one in (suspect, later)]
    gevent.idle()
    assert (suspect in turns, later in turns) == (False, False)

    turns.leave(first)
    gevent.idle()
    assert (suspect in turns, later in turns) == (True, False)

    turns.leave(suspect)
    gevent.joinall(entering, raise_error=True)
    assert later in turns


def test_suspects_take_turns(turns):
    suspects = [page(n, is_suspect=True) for n in range(4)]
    alone = []

    def analyse(one):
        turns.enter(one)
        gevent.sleep(0)
        alone.append(sum(other in turns for other in suspects))
        turns.leave(one)

    gevent.joinall([gevent.spawn(analyse, one) for one in suspects], raise_error=True)

    assert alone == [1, 1, 1, 1]


def test_a_suspect_that_is_given_up_holds_nobody_up(turns):
    first, suspect, later = page(1), page(2, is_suspect=True), page(3)
    turns.enter(first)
    waiting = gevent.spawn(turns.enter, suspect)
    gevent.idle()
    waiting.kill()

    turns.enter(later)

    assert later in turns
    turns.leave(suspect)  # it never entered: nothing is to do
    assert first in turns
