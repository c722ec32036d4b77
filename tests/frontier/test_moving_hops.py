"""A redirect that leads to a host of another frontier is continued there."""

import pytest

from crawler.data import Request
from crawler.frontier import DONE, Frontier, Next, Politeness, Scope, UrlCounts, refused
from crawler.frontier.durable.journal import NullJournal
from crawler.frontier.outcome import MOVED

from .steps import DOMAINS, answer


class Elsewhere(NullJournal):
    """Hands over all hops to b.test."""

    def __init__(self):
        self.moved = []

    def moves(self, hop):
        if "b.test" not in hop.url:
            return None
        if hop.url.endswith("/nowhere"):
            return refused("nowhere")
        self.moved.append(hop)
        return MOVED


@pytest.fixture
def journal():
    return Elsewhere()


@pytest.fixture
def sender(journal):
    return Frontier(Scope(DOMAINS), politeness=Politeness.off(), journal=journal)


@pytest.fixture
def receiver():
    return Frontier(Scope(DOMAINS), politeness=Politeness.off())


def redirected(frontier, url, to):
    frontier.admit(Request(url))
    return answer(frontier, frontier.take(), 302, location=to)


def test_a_hop_leaves_one_frontier_and_ends_in_the_other(sender, receiver, journal):
    assert redirected(sender, "http://a.test/1", "http://b.test/x") is Next.AGAIN
    assert sender.view.idle
    assert sender.view.counts() == UrlCounts()

    receiver.move_in(journal.moved[0])

    assert receiver.view.counts() == UrlCounts(met=1, admitted=1, pending=1)
    taken = receiver.take()
    assert taken.request.redirects == ("http://a.test/1",)
    receiver.settle(taken, DONE)
    assert receiver.view.idle
    assert receiver.admit(Request("http://b.test/x")) == "seen"


def test_a_hop_to_a_page_that_the_other_frontier_has_seen_is_refused_there(
    sender, receiver, journal
):
    receiver.admit(Request("http://b.test/x"))
    redirected(sender, "http://a.test/1", "http://b.test/x")

    receiver.move_in(journal.moved[0])

    assert receiver.view.counts() == UrlCounts(met=2, admitted=2, pending=1, refused={"seen": 1})


def test_a_way_back_with_a_new_cookie_is_not_a_page_seen_before(receiver):
    receiver.admit(Request("http://b.test/x"))
    receiver.settle(receiver.take(), DONE)

    receiver.move_in(
        Request("http://b.test/x", redirects=("http://b.test/x", "http://a.test/login"))
    )

    assert receiver.take().request.url == "http://b.test/x"


def test_a_hop_that_no_frontier_can_have_ends_where_it_is(sender, journal):
    assert redirected(sender, "http://a.test/1", "http://b.test/nowhere") == refused("nowhere")

    assert not journal.moved
    assert sender.view.counts() == UrlCounts(met=1, admitted=1, refused={"nowhere": 1})


def test_a_hop_to_a_host_of_its_own_stays(sender, journal):
    redirected(sender, "http://a.test/1", "http://c.test/x")

    assert not journal.moved
    assert sender.take().request.url == "http://c.test/x"
