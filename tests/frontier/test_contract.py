"""The contract of the frontier, whatever keeps its decisions."""

import random
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import gevent
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from crawler.data import Link, Request, Response
from crawler.errors import FrontierClosed
from crawler.frontier import (
    DONE,
    Frontier,
    Next,
    Outcome,
    Politeness,
    Retries,
    Scope,
    SqliteJournal,
    Taken,
    UrlCounts,
    failed,
    refused,
)
from crawler.headers import Headers
from crawler.http.redirect import MAX_REDIRECTS

from ..cluster.shard import holder, shared_server

HOME = "http://site.test/"


@pytest.fixture(autouse=True)
def deadline():
    """A deadlock is a red test, not a hung run."""
    with gevent.Timeout(120):
        yield


@contextmanager
def memory(scope):
    """A frontier that ends with its process."""
    yield Frontier(scope, politeness=Politeness.off(), retries=Retries(1))


@contextmanager
def sqlite(scope, window=50_000):
    """A frontier whose every step is in a store; beyond *window* requests wait there only."""
    with TemporaryDirectory() as folder:
        journal = SqliteJournal(Path(folder) / "state.db", window=window)
        frontier = Frontier(scope, politeness=Politeness.off(), retries=Retries(1), journal=journal)
        try:
            yield frontier
        finally:
            frontier.close()
            journal.close()


@contextmanager
def cluster(scope):
    """A frontier whose every step is in the only shard of a job in Redis."""

    def make(journal):
        return Frontier(scope, politeness=Politeness.off(), retries=Retries(1), journal=journal)

    with holder(shared_server().url) as one:
        shard = one.open(0, "token", make, wait=one.commits.wait_for_room)
        yield shard.frontier
        one.commits.write()
        assert one.commits.failure is None
        assert len(one.state(0).pending) == shard.frontier.view.counts().pending
        shard.frontier.close()


#: Each way to keep what a frontier decides: the contract holds for all of them.
KINDS = {"memory": memory, "sqlite": sqlite, "cluster": cluster}


@pytest.fixture(params=KINDS)
def make(request):
    """Open a frontier of the kind under test; it is closed at the end of the test."""
    with ExitStack() as stack:
        yield lambda scope: stack.enter_context(KINDS[request.param](scope))


@pytest.fixture
def frontier(make):
    return make(Scope(["site.test"], max_depth=5))


def page(name="", **fields):
    return Request(HOME + str(name), **fields)


# -- the URL that is fetched ----------------------------------------------------------------------


@pytest.mark.parametrize("found", [page("a#b", meta={"x": 1}), Link(HOME + "a#b", 1, HOME)])
def test_what_waits_has_no_fragment(frontier, found):
    assert frontier.admit(found) is None

    assert frontier.take().request.url == HOME + "a"
    assert frontier.admit(page("a")) == "seen"


def test_a_url_that_is_invalid_is_kept_as_it_is(frontier):
    assert frontier.admit(Request("#b")) == "invalid"
    assert frontier.view.samples() == {"invalid": ["#b"]}


def test_pages_found_nearer_after_they_were_taken_are_counted_once(frontier):
    for name in ("a", "b"):
        frontier.admit(Link(HOME + name, 4, HOME + "far"))
        frontier.take()
    for depth in (4, 5, 3, 2, 3):
        frontier.admit(Link(f"{HOME}a#{depth}", depth, HOME))
    frontier.admit(page("b", depth=1, meta={"x": 1}))

    assert frontier.view.counts().found_nearer == 2


def test_pages_found_nearer_while_they_wait_are_fetched_there_and_not_counted(frontier):
    frontier.admit(Link(HOME + "a", 4, HOME + "far"))
    frontier.admit(Link(HOME + "a", 2, HOME))

    assert frontier.take().request.depth == 2
    assert frontier.admit(Link(HOME + "a", 3, HOME)) == "seen"
    assert frontier.view.counts().found_nearer == 0


def test_a_link_with_a_fragment_brings_a_waiting_page_nearer(frontier):
    frontier.admit(Link(HOME + "a#x", 3, HOME + "far"))
    frontier.admit(Link(HOME + "a#y", 1, HOME))

    assert frontier.take().request.depth == 1


def take_all(frontier):
    return [frontier.take() for _ in range(len(frontier.view))]


def names(all_taken):
    return [taken.request.url.removeprefix(HOME) for taken in all_taken]


def to(taken, location, status=302):
    request = taken.request
    return Response(request.url, status, Headers({"location": location}), b"", request)


def redirect(frontier, taken, response):
    """Return how a redirect ends *taken*; None if its hop waits."""
    outcome = frontier.fetched(taken, response)
    return None if outcome is Next.AGAIN else outcome


# -- admit --------------------------------------------------------------------------------------


def test_a_request_is_outstanding_from_admit_to_settle(frontier):
    assert frontier.view.idle
    assert frontier.admit(page()) is None
    assert repr(frontier) == "<Frontier open, 1 waiting, 0 taken>"
    request = frontier.take()
    assert repr(frontier) == "<Frontier open, 0 waiting, 1 taken>"
    assert not frontier.view.idle

    frontier.settle(request, DONE)

    assert frontier.view.idle
    assert frontier.view.counts() == UrlCounts(met=1, admitted=1, done=1)


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        (Request("nonsense"), "invalid"),
        (Request("http://"), "invalid"),
        (Request("ftp://site.test/"), "scheme"),
        (Request("http://other.test/"), "domain"),
        (page(depth=6), "depth"),
        (page("x" * 3000), "length"),
    ],
)
def test_what_is_out_of_scope_is_turned_away_with_one_reason(frontier, request_, reason):
    assert frontier.admit(request_) == reason

    assert frontier.view.idle
    assert frontier.view.counts() == UrlCounts(met=1, turned_away={reason: 1})


def test_what_was_turned_away_for_its_depth_may_come_nearer(frontier):
    assert frontier.admit(page(depth=6)) == "depth"
    assert frontier.admit(page(depth=5)) is None


@pytest.mark.parametrize("state", ["waiting", "taken", "settled"])
def test_a_url_is_admitted_once(frontier, state):
    frontier.admit(page())
    if state != "waiting":
        request = frontier.take()
    if state == "settled":
        frontier.settle(request, DONE)

    assert frontier.admit(page("#again")) == "seen"
    assert frontier.view.counts().turned_away == {"seen": 1}


def test_dont_filter_is_admitted_again_and_again(frontier):
    request = page(dont_filter=True)

    for _ in range(3):
        assert frontier.admit(request) is None

    taken = take_all(frontier)
    assert len({each.request.id for each in taken}) == 3
    for each in taken:
        frontier.settle(each, DONE)
    assert frontier.view.counts() == UrlCounts(met=3, admitted=3, done=3)
    assert frontier.admit(page()) == "seen"


def test_dont_filter_does_not_let_in_what_is_out_of_scope(frontier):
    assert frontier.admit(Request("http://other.test/", dont_filter=True)) == "domain"


def test_many_greenlets_admitting_one_url_let_it_in_once(frontier):
    answers = []

    def admit():
        for n in range(50):
            answers.append(frontier.admit(page(n)))
            gevent.sleep(0)

    gevent.joinall([gevent.spawn(admit) for _ in range(10)], raise_error=True)

    assert answers.count(None) == len(frontier.view) == 50
    assert frontier.view.counts().turned_away == {"seen": 450}


# -- the order ----------------------------------------------------------------------------------


def test_nearest_first_then_oldest(frontier):
    for name, depth in [("c", 3), ("a1", 1), ("b", 2), ("a2", 1), ("start", 0)]:
        frontier.admit(page(name, depth=depth))

    assert names(take_all(frontier)) == ["start", "a1", "a2", "b", "c"]


def test_priority_before_depth(frontier):
    frontier.admit(page("near", depth=0))
    frontier.admit(page("urgent", depth=5, priority=1))
    frontier.admit(page("later", depth=0, priority=-1))

    assert names(take_all(frontier)) == ["urgent", "near", "later"]


def test_found_again_nearer_a_waiting_url_moves_up(frontier):
    frontier.admit(page("far", depth=4, found_on="there", meta={"mine": 1}))
    frontier.admit(page("middle", depth=2))

    assert frontier.admit(page("far", depth=1, found_on="here")) == "seen"
    assert len(frontier.view) == 2
    moved, middle = take_all(frontier)

    assert names([moved, middle]) == ["far", "middle"]
    request = moved.request
    assert (request.depth, request.found_on, request.meta["mine"]) == (1, "here", 1)
    assert len(frontier.view) == 0
    for taken in (moved, middle):
        frontier.settle(taken, DONE)
    assert frontier.view.counts() == UrlCounts(met=3, admitted=2, done=2, turned_away={"seen": 1})


def test_found_again_farther_it_stays_where_it_is(frontier):
    frontier.admit(page("a", depth=1))
    frontier.admit(page("a", depth=1))
    frontier.admit(page("a", depth=4))

    assert [taken.request.depth for taken in take_all(frontier)] == [1]


def test_it_moves_up_as_often_as_it_is_found_nearer(frontier):
    for depth in (5, 4, 4, 2, 3, 0, 1):
        frontier.admit(page("a", depth=depth))
    frontier.admit(page("b", depth=1))

    assert [taken.request.depth for taken in take_all(frontier)] == [0, 1]
    waiter = gevent.spawn(frontier.take)
    gevent.idle()
    assert not waiter.ready()
    waiter.kill()


def test_the_target_of_a_redirect_moves_up_too(frontier):
    frontier.admit(page("a", depth=3))
    taken = frontier.take()
    assert redirect(frontier, taken, to(taken, "/b")) is None
    frontier.admit(page("c", depth=2))

    frontier.admit(page("b", depth=1))

    hop, _ = take_all(frontier)
    again = hop.request
    assert (again.depth, again.id, again.url) == (1, taken.request.id, HOME + "b")


# -- take ---------------------------------------------------------------------------------------


def test_take_waits_for_a_request(frontier):
    taker = gevent.spawn(frontier.take)
    gevent.idle()
    assert not taker.ready()

    frontier.admit(page())

    assert taker.get(timeout=120).request.url == HOME


def test_several_takers_get_different_requests(frontier):
    takers = [gevent.spawn(frontier.take) for _ in range(5)]
    gevent.idle()

    for n in range(5):
        frontier.admit(page(n))

    gevent.joinall(takers, timeout=120, raise_error=True)
    assert sorted(names(taker.value for taker in takers)) == list("01234")


def test_a_killed_taker_loses_nothing(frontier):
    takers = [gevent.spawn(frontier.take) for _ in range(3)]
    gevent.idle()
    frontier.admit(page())
    gevent.killall(takers, timeout=120)

    left = [taker for taker in takers if isinstance(taker.value, Taken)]
    assert len(left) + len(frontier.view) == 1
    if len(frontier.view):
        assert frontier.take().request.url == HOME


def test_paused_gives_nothing_and_resumed_goes_on(frontier):
    before = gevent.spawn(frontier.take)
    gevent.idle()
    frontier.pause()
    after = gevent.spawn(frontier.take)
    frontier.admit(page(1))
    frontier.admit(page(2))
    gevent.idle()
    gevent.idle()
    assert not before.ready()
    assert not after.ready()
    assert repr(frontier) == "<Frontier paused, 2 waiting, 0 taken>"

    frontier.resume()

    assert sorted(names([before.get(timeout=120), after.get(timeout=120)])) == ["1", "2"]


@pytest.mark.parametrize("paused", [True, False])
def test_close_wakes_every_taker(frontier, paused):
    if paused:
        frontier.pause()
    takers = [gevent.spawn(frontier.take) for _ in range(20)]
    gevent.idle()

    frontier.close()

    gevent.joinall(takers, timeout=120)
    assert all(isinstance(taker.exception, FrontierClosed) for taker in takers)
    with pytest.raises(FrontierClosed):
        frontier.take()
    assert repr(frontier) == "<Frontier closed, 0 waiting, 0 taken>"


def test_what_is_outstanding_stays_pending_when_it_is_closed(frontier):
    for n in range(5):
        frontier.admit(page(n))
    taken = frontier.take()

    frontier.close()

    assert frontier.view.counts().pending == 5
    frontier.settle(taken, DONE)
    assert frontier.view.counts().pending == 4


# -- settle and put back ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("outcome", "figures"),
    [
        (DONE, {"done": 1}),
        (Outcome("done"), {"done": 1}),
        (failed("dns"), {"failed": {"dns": 1}}),
        (refused("robots"), {"refused": {"robots": 1}}),
    ],
)
def test_each_outcome_has_its_own_count(frontier, outcome, figures):
    frontier.admit(page())

    frontier.settle(frontier.take(), outcome)

    assert frontier.view.counts() == UrlCounts(met=1, admitted=1, **figures)


@pytest.mark.parametrize("again", ["settle", "put_back"])
def test_a_request_is_settled_once(frontier, again):
    frontier.admit(page())
    request = frontier.take()
    frontier.settle(request, DONE)

    with pytest.raises(ValueError, match="not taken: a request is settled once"):
        frontier.settle(request, DONE) if again == "settle" else frontier.put_back(request)

    assert frontier.view.counts().done == 1


def test_put_back_waits_again_past_admission_and_keeps_its_identity(frontier):
    frontier.admit(page("a", depth=1))
    frontier.admit(page("b", depth=2))
    request = frontier.take()

    frontier.put_back(request)

    assert frontier.view.counts() == UrlCounts(met=2, admitted=2, pending=2)
    again = frontier.take()
    assert again.request.id == request.request.id
    frontier.settle(again, DONE)
    assert names(take_all(frontier)) == ["b"]


def test_outcomes_read_well():
    assert [str(each) for each in (DONE, failed("dns"), refused("seen"))] == [
        "done",
        "failed(dns)",
        "refused(seen)",
    ]


# -- join ---------------------------------------------------------------------------------------


def test_join_waits_for_the_last_settlement(frontier):
    frontier.admit(page(1))
    frontier.admit(page(2))
    waiter = gevent.spawn(frontier.join)
    one, two = take_all(frontier)
    frontier.settle(one, DONE)
    gevent.idle()
    assert not waiter.ready()

    frontier.settle(two, failed("x"))

    assert waiter.get(timeout=120) is True


def test_join_is_over_at_once_when_nothing_is_outstanding(frontier):
    assert frontier.join() is True
    assert frontier.join(timeout=0) is True


def test_join_gives_up_after_its_timeout(frontier):
    frontier.admit(page())

    assert frontier.join(timeout=0) is False
    assert frontier.join(timeout=0.01) is False


def test_join_goes_on_when_something_is_admitted_before_it_wakes(frontier):
    frontier.admit(page(1))
    waiter = gevent.spawn(frontier.join)
    gevent.idle()
    frontier.settle(frontier.take(), DONE)
    frontier.admit(page(2))
    gevent.idle()
    assert not waiter.ready()

    frontier.settle(frontier.take(), DONE)

    assert waiter.get(timeout=120) is True


def test_join_ends_when_the_frontier_is_closed_and_stays_so(frontier):
    frontier.admit(page(1))
    waiter = gevent.spawn(frontier.join)
    gevent.idle()

    frontier.close()
    frontier.admit(page(2))

    assert waiter.get(timeout=120) is False
    assert frontier.join() is False


# -- redirects ----------------------------------------------------------------------------------


def taken(frontier, name="a", **fields):
    frontier.admit(page(name, **fields))
    return frontier.take()


def test_a_hop_waits_behind_admission_as_the_same_request(frontier):
    request = taken(frontier)

    assert redirect(frontier, request, to(request, "/b")) is None

    hop = frontier.take()
    again = hop.request
    assert (again.id, again.url) == (request.request.id, HOME + "b")
    assert again.redirects == (HOME + "a",)
    assert frontier.view.counts() == UrlCounts(met=1, admitted=1, pending=1)
    frontier.settle(hop, DONE)
    assert frontier.view.idle


@pytest.mark.parametrize(
    ("location", "outcome"),
    [
        ("http://other.test/", refused("domain")),
        ("mailto:x@site.test", refused("scheme")),
        ("http://[", refused("invalid")),
        ("/" + "x" * 3000, refused("length")),
        ("/a", failed("redirect_loop")),
        ("#fragment", failed("redirect_loop")),
        ("http://SITE.test:80/%61", failed("redirect_loop")),
    ],
)
def test_a_hop_that_may_not_be_fetched_ends_the_request(frontier, location, outcome):
    request = taken(frontier)

    assert redirect(frontier, request, to(request, location)) == outcome

    frontier.settle(request, outcome)
    assert frontier.view.idle


def test_a_chain_has_a_limit(frontier):
    request = taken(frontier, 0)
    for n in range(1, MAX_REDIRECTS + 1):
        assert redirect(frontier, request, to(request, f"/{n}")) is None
        request = frontier.take()

    assert redirect(frontier, request, to(request, "/more")) == failed("redirect_limit")


def test_a_longer_loop_is_a_loop(frontier):
    request = taken(frontier, "a")
    for name in "bc":
        redirect(frontier, request, to(request, f"/{name}"))
        request = frontier.take()

    assert redirect(frontier, request, to(request, "/b")) == failed("redirect_loop")


def test_a_hop_to_what_others_have_met_is_refused_as_seen(frontier):
    request = taken(frontier)
    frontier.admit(page("b"))

    assert redirect(frontier, request, to(request, "/b")) == refused("seen")


def test_a_hop_is_seen_from_then_on(frontier):
    request = taken(frontier)
    redirect(frontier, request, to(request, "/b"))

    assert frontier.admit(page("b")) == "seen"
    other = taken(frontier, "c", priority=9)
    assert redirect(frontier, other, to(other, "/b")) == refused("seen")


def test_a_hop_that_is_refused_for_its_scope_is_not_seen(make):
    frontier = make(Scope(["site.test"], max_depth=0).including(["http://site.test/"]))
    request = taken(frontier)
    redirect(frontier, request, to(request, "http://other.test/x"))

    assert frontier.admit(Request("http://other.test/x")) == "domain"


def test_with_dont_filter_a_hop_may_be_seen_but_not_loop(frontier):
    frontier.admit(page("b"))
    frontier.settle(frontier.take(), DONE)
    request = taken(frontier, dont_filter=True)

    assert redirect(frontier, request, to(request, "/b")) is None
    hop = frontier.take()
    assert redirect(frontier, hop, to(hop, "/a")) == failed("redirect_loop")


def test_two_dont_filter_requests_may_be_redirected_to_one_page(frontier):
    requests = [taken(frontier, dont_filter=True) for _ in range(3)]

    for request in requests:
        assert redirect(frontier, request, to(request, "/b")) is None

    assert len({hop.request.id for hop in take_all(frontier)}) == 3


def test_a_form_that_redirects_to_itself_is_no_loop(frontier):
    request = taken(frontier, method="POST", body=b"x")

    assert redirect(frontier, request, to(request, "/a", 303)) is None

    hop = frontier.take()
    assert (hop.request.method, hop.request.url) == ("GET", HOME + "a")
    assert redirect(frontier, hop, to(hop, "/a", 303)) == failed("redirect_loop")


def test_a_form_that_redirects_to_a_page_that_was_met_is_seen(frontier):
    frontier.admit(page("a", depth=5))
    request = taken(frontier, method="POST")

    assert redirect(frontier, request, to(request, "/a", 303)) == refused("seen")


def test_only_what_was_taken_can_be_redirected(frontier):
    request = taken(frontier)
    frontier.settle(request, DONE)

    with pytest.raises(ValueError, match="not taken"):
        redirect(frontier, request, to(request, "/b"))


# -- against a model ----------------------------------------------------------------------------


class FrontierAgainstAModel(RuleBasedStateMachine):
    """Waiting, taken and settled partition what was admitted; the best of the waiting is next."""

    kind = staticmethod(memory)

    def __init__(self):
        super().__init__()
        self.stack = ExitStack()
        self.frontier = self.stack.enter_context(self.kind(Scope(["site.test"], max_depth=3)))
        self.depths = {}
        self.met = set()
        self.taken = []
        self.ended = self.turned_away = 0

    @rule(name=st.integers(0, 15), depth=st.integers(0, 5))
    def admit(self, name, depth):
        url = f"{HOME}{name}"
        reason = self.frontier.admit(Request(url, depth=depth))
        if depth > 3:
            assert reason == "depth"
        elif url in self.met:
            assert reason == "seen"
            if url in self.depths:
                self.depths[url] = min(self.depths[url], depth)
        else:
            assert reason is None
            self.met.add(url)
            self.depths[url] = depth
        self.turned_away += reason is not None

    @precondition(lambda self: self.depths)
    @rule()
    def take(self):
        with gevent.Timeout(120):
            taken = self.frontier.take()
        depth = self.depths.pop(taken.request.url)
        assert taken.request.depth == depth
        assert depth <= min(self.depths.values(), default=9)
        self.taken.append(taken)

    @precondition(lambda self: self.taken)
    @rule(outcome=st.sampled_from([DONE, failed("x"), refused("y")]), which=st.integers(0, 99))
    def settle(self, outcome, which):
        self.frontier.settle(self.taken.pop(which % len(self.taken)), outcome)
        self.ended += 1

    @precondition(lambda self: self.taken)
    @rule(which=st.integers(0, 99))
    def put_back(self, which):
        request = self.taken.pop(which % len(self.taken))
        self.frontier.put_back(request)
        with gevent.Timeout(120):
            again = next(r for r in iter(self.frontier.take, None) if self.hold(r, request))
        self.taken.append(again)

    def hold(self, taken, wanted):
        if taken.request.id == wanted.request.id:
            return True
        self.depths.pop(taken.request.url)
        self.taken.append(taken)
        return False

    @precondition(lambda self: self.taken)
    @rule(which=st.integers(0, 99), name=st.integers(0, 15))
    def redirect(self, which, name):
        taken = self.taken.pop(which % len(self.taken))
        request = taken.request
        url = f"{HOME}{name}"
        outcome = redirect(self.frontier, taken, to(taken, f"/{name}"))
        if url in (*request.redirects, request.url):
            assert outcome in (failed("redirect_loop"), failed("redirect_limit"))
        elif url in self.met:
            assert outcome in (refused("seen"), failed("redirect_limit"))
        elif outcome is None:
            self.met.add(url)
            self.depths[url] = request.depth
        if outcome is not None:
            self.frontier.settle(taken, outcome)
            self.ended += 1

    def teardown(self):
        self.stack.close()

    @invariant()
    def adds_up(self):
        counts = self.frontier.view.counts()
        assert len(self.frontier.view) == len(self.depths)
        assert counts.pending == len(self.depths) + len(self.taken)
        assert counts.admitted == counts.pending + self.ended
        assert counts.met == counts.admitted + self.turned_away
        assert self.frontier.view.idle == (counts.pending == 0)
        assert self.frontier.join(timeout=0) == self.frontier.view.idle


class SqliteAgainstAModel(FrontierAgainstAModel):
    """The same, with every step in a store."""

    kind = staticmethod(sqlite)


FrontierAgainstAModel.TestCase.settings = settings(max_examples=30)
TestFrontierAgainstAModel = FrontierAgainstAModel.TestCase
SqliteAgainstAModel.TestCase.settings = settings(max_examples=15)
TestSqliteAgainstAModel = SqliteAgainstAModel.TestCase


def test_takers_and_settlers_in_any_order_settle_everything_once(frontier):
    dice = random.Random(5)
    settled = []

    def work():
        while True:
            try:
                taken = frontier.take()
            except FrontierClosed:
                return
            request = taken.request
            for _ in range(dice.randint(0, 3)):
                gevent.sleep(0)
            if dice.random() < 0.2:
                frontier.put_back(taken)
                continue
            if request.depth < 5:
                for _ in range(2):
                    frontier.admit(page(dice.randrange(500), depth=request.depth + 1))
            settled.append(request.url)
            frontier.settle(taken, DONE)

    workers = [gevent.spawn(work) for _ in range(8)]
    for n in range(20):
        frontier.admit(page(n))
    assert frontier.join()
    frontier.close()
    gevent.joinall(workers, timeout=120, raise_error=True)

    assert len(settled) == len(set(settled)) == frontier.view.counts().admitted
    assert frontier.view.counts().pending == 0
