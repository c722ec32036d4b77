"""The durable frontier keeps the contract, and a crash costs a refetch, never a page."""

import json
import sqlite3
import time
from random import Random

import gevent
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.data import Link, Request, Response
from crawler.errors import DownloadError
from crawler.frontier import (
    DONE,
    Next,
    Politeness,
    Retries,
    Scope,
    failed,
    refused,
)
from crawler.frontier.durable.rows import sealed
from crawler.frontier.durable.sqlite_journal import SqliteJournal

from ..steps import Clock
from .conftest import Life, answer, take, visit


def test_what_waits_is_there_after_a_restart(life):
    life.frontier.admit(Request("http://a.test/", callback="first", meta={"n": [1, "é"]}))
    life.frontier.admit(Link("http://b.test/x", 3, "http://a.test/"))

    frontier = life.again()

    assert frontier.view.counts().pending == 2
    found = {taken.request.url: taken.request for taken in (take(frontier), take(frontier))}
    assert found["http://a.test/"].callback == "first"
    assert found["http://a.test/"].meta == {"n": [1, "é"]}
    assert found["http://b.test/x"].depth == 3
    assert found["http://b.test/x"].found_on == "http://a.test/"


def test_what_is_settled_is_not_fetched_again(life):
    life.frontier.admit(Request("http://a.test/"))
    visit(life.frontier, "http://a.test/1")

    frontier = life.again()

    assert frontier.resumed
    assert frontier.admit(Request("http://a.test/")) == "seen"
    assert visit(frontier).url == "http://a.test/1"
    assert frontier.view.idle
    assert frontier.view.counts().done == 2


def test_a_time_limit_of_a_callback_does_not_end_the_commit_before_an_analysis(life):
    life.frontier.admit(Request("http://a.test/"))
    taken = take(life.frontier)
    life.journal.marks.commit_first = 1
    waiting = gevent.spawn(life.frontier.begin_analysis, taken)
    gevent.sleep(0)

    waiting.kill(ValueError("the limit that a callback has set"))
    life.journal.commits.flush()

    assert not waiting.successful()
    assert life.again().view.counts().pending == 1


def test_what_was_taken_waits_again_after_a_crash(life):
    life.frontier.admit(Request("http://a.test/"))
    life.journal.commits.flush()
    take(life.frontier)

    life.crash()

    assert take(life.begin()).request.url == "http://a.test/"


def test_an_uncommitted_outcome_is_gone_with_its_links(life):
    life.frontier.admit(Request("http://a.test/"))
    life.journal.commits.flush()
    visit(life.frontier, "http://a.test/1")

    life.crash()
    frontier = life.begin()

    assert visit(frontier, "http://a.test/1").url == "http://a.test/"
    assert visit(frontier).url == "http://a.test/1"
    assert frontier.view.idle


def test_counts_by_outcome_and_reason_go_on(life):
    frontier = life.frontier
    for n in range(3):
        frontier.admit(Request(f"http://a.test/{n}"))
    frontier.admit(Request("http://elsewhere.test/"))
    outcomes = iter([DONE, failed("timeout"), refused("robots")])
    for outcome in outcomes:
        request = take(frontier)
        answer(frontier, request)
        frontier.settle(request, outcome)
    before = frontier.view.counts()

    after = life.again().view.counts()

    assert after == before
    assert after.failed == {"timeout": 1}
    assert after.turned_away == {"domain": 1}
    assert life.frontier.view.samples()["domain"] == ["http://elsewhere.test/"]


def test_every_url_met_has_a_row_with_its_outcome(life):
    frontier = life.frontier
    frontier.admit(Request("http://a.test/"))
    visit(frontier, "http://a.test/1", "http://elsewhere.test/", "http://elsewhere.test/")
    visit(frontier, "http://elsewhere.test/", "mailto:somebody")

    life.end()

    rows = life.query("SELECT url, status, reason, code, bytes, found_on FROM urls ORDER BY id")
    assert rows == [
        ("http://a.test/", "done", "", 200, 4, None),
        ("http://a.test/1", "done", "", 200, 4, "http://a.test/"),
        ("http://elsewhere.test/", "turned_away", "domain", None, None, "http://a.test/"),
        ("mailto:somebody", "turned_away", "scheme", None, None, "http://a.test/1"),
    ]


def test_a_retry_keeps_its_attempts(life):
    life.frontier.admit(Request("http://a.test/"))
    request = take(life.frontier)
    assert answer(life.frontier, request, 500) is Next.AGAIN

    assert take(life.again()).request.attempts == ("status 500",)


def test_a_backoff_outlives_the_process(life):
    life.frontier.admit(Request("http://a.test/"))
    answer(life.frontier, take(life.frontier), 503, **{"retry-after": "50"})

    frontier = life.again()

    assert 30 < frontier.view.next_wake() <= 50


def test_a_redirect_goes_on_where_it_was_sent(life):
    life.frontier.admit(Request("http://a.test/old"))
    request = take(life.frontier)
    assert answer(life.frontier, request, 301, location="http://b.test/new") is Next.AGAIN

    frontier = life.again()
    request = take(frontier)

    assert (request.request.url, request.request.redirects) == (
        "http://b.test/new",
        ("http://a.test/old",),
    )
    assert frontier.admit(Request("http://b.test/new")) == "seen"
    answer(frontier, request)
    frontier.settle(request, DONE)
    assert life.again().admit(Request("http://b.test/new")) == "seen"
    assert life.query("SELECT url, redirects FROM urls WHERE status = 'done'") == [
        ("http://a.test/old", '["http://b.test/new"]')
    ]


def asked_for_robots(tmp_path, rules):
    """A life by hand in which a page waits, and the robots.txt of its host is known."""
    clock = Clock()
    life = Life(tmp_path, politeness=Politeness(delay=0.0), clock=clock)
    life.frontier.admit(Request("http://a.test/private"))
    question = take(life.frontier)
    assert question.request.url == "http://a.test/robots.txt"
    response = Response(question.request.url, 200, body=rules, request=question.request)
    life.frontier.fetched(question, response)
    return life, clock


def test_robots_txt_is_not_asked_for_again(tmp_path):
    life, clock = asked_for_robots(tmp_path, b"User-agent: *\nDisallow: /private\nCrawl-delay: 7")

    frontier = life.again()
    frontier.admit(Request("http://a.test/public"))
    clock.now += 7

    assert take(frontier).request.url == "http://a.test/public"
    assert frontier.view.counts().refused == {"robots": 1}
    assert frontier._parts.hosts.find("a.test").crawl_delay == 7
    life.end()


@pytest.mark.parametrize("moment", ["in flight", "fetched", "after robots.txt"])
def test_a_crawl_delay_is_kept_over_a_crash(tmp_path, moment):
    life, clock = asked_for_robots(tmp_path, b"User-agent: *\nCrawl-delay: 200")
    if moment != "after robots.txt":
        clock.now += 200
        taken = take(life.frontier)
        if moment == "fetched":
            answer(life.frontier, taken)
            life.frontier.settle(taken, DONE)
    life.journal.commits.flush()
    life.crash()

    frontier = life.begin()
    frontier.admit(Request("http://a.test/next"))

    assert 100 < frontier.view.next_wake() <= 200
    clock.now += 200
    assert take(frontier).request.url.startswith("http://a.test/")
    with gevent.Timeout(0.02, False):
        pytest.fail(f"{frontier.take()} did not wait for the delay")
    life.end()


def test_a_host_that_has_rested_is_not_remembered(life):
    life.end()
    with sqlite3.connect(life.path) as state:
        for name, rests in (("a.test", -1), ("b.test", 100)):
            row = sealed(name, 0, time.time() + rests, "503")
            state.execute("INSERT OR REPLACE INTO hosts VALUES (?, ?, ?, ?, ?)", row)

    frontier = life.begin()

    assert frontier._parts.hosts.find("a.test") is None
    assert frontier._parts.hosts.find("b.test").why == "503"


YEARS = 10 * 365 * 86400.0


@pytest.mark.parametrize(("is_fast", "most"), [("always", 50.0), ("for a while", 86400.0)])
def test_a_rest_that_was_stored_under_a_fast_clock_is_capped(life, is_fast, most):
    life.frontier.admit(Request("http://a.test/"))
    answer(life.frontier, take(life.frontier), 503, **{"retry-after": "50"})
    life.end()
    with sqlite3.connect(life.path) as state:
        later = time.time() + YEARS
        row = sealed("a.test", 0, later + 50, "503")
        state.execute("INSERT OR REPLACE INTO hosts VALUES (?, ?, ?, ?, ?)", row)
        if is_fast == "always":
            fact = sealed("time", json.dumps(later))
            state.execute("INSERT OR REPLACE INTO facts VALUES (?, ?, ?)", fact)

    frontier = life.begin()

    assert 0 < frontier.view.next_wake() <= most


def test_nor_does_it_grow_when_later_processes_commit_by_a_right_clock(life, monkeypatch):
    later = time.time() + YEARS
    with monkeypatch.context() as fast:
        fast.setattr(time, "time", lambda: later)
        life.again().admit(Request("http://a.test/"))
        answer(life.frontier, take(life.frontier), 503, **{"retry-after": "50"})
        life.end()

    journal = SqliteJournal(life.path)  # as a job that opens its outputs, and ends
    journal.commits.flush(anyway=True)
    journal.close()

    wakes = []
    for _ in range(3):
        wakes.append(life.begin().view.next_wake())
        life.end()
    assert 0 < min(wakes) <= max(wakes) <= 50


def test_the_failures_of_an_origin_outlive_the_process(tmp_path):
    clock = Clock()
    politeness = Politeness(robots=False, delay=0.0, give_up_after=3, backoff=500.0, jitter=0.0)
    life = Life(tmp_path, politeness=politeness, retries=Retries(9, wait=0.0), clock=clock)
    life.frontier.admit(Request("http://a.test:81/"))
    for failures in (1, 2):
        taken = take(life.frontier)
        error = DownloadError("D1", taken.request, "no route", "connect")
        life.frontier.fetched(taken, error)
        frontier = life.again()
        host = frontier._parts.hosts.find("a.test")
        assert host.failures == host.failing["http://a.test:81"].failures == failures
        assert 300 * failures < host.failing["http://a.test:81"].rests_until - clock.now
        clock.now += 1000.0

    taken = take(life.frontier)
    answer(life.frontier, taken)
    life.frontier.settle(taken, DONE)

    host = life.again()._parts.hosts.find("a.test")
    assert host is None or not host.failures
    life.end()


def test_failures_that_an_earlier_version_has_counted_by_host_begin_anew(life):
    life.frontier.admit(Request("http://a.test/"))
    life.end()
    with sqlite3.connect(life.path) as state:
        row = sealed("a.test", 8, time.time() + 1000, "connect")
        state.execute("INSERT OR REPLACE INTO hosts VALUES (?, ?, ?, ?, ?)", row)

    frontier = life.begin()

    assert 900 < frontier.view.next_wake() <= 1000
    assert frontier.admit(Request("http://a.test/2")) is None


def settle_failed(frontier):
    taken = take(frontier)
    assert taken.failure.kind == "host"
    frontier.settle(taken, failed("host"))


def test_an_origin_that_was_given_up_stays_so(tmp_path):
    politeness = Politeness(robots=False, delay=0.0, per_host=100, give_up_after=1, backoff=0.001)
    life = Life(tmp_path, politeness=politeness, retries=Retries(attempts=1))
    for n in range(3):
        life.frontier.admit(Request(f"http://a.test/{n}"))
    request = take(life.frontier)
    error = DownloadError("D1", request.request, "no route", "connect")
    life.frontier.settle(request, life.frontier.fetched(request, error))
    settle_failed(life.frontier)

    frontier = life.again()
    settle_failed(frontier)

    assert frontier.view.counts().failed == {"connect": 1, "host": 2}
    assert frontier.admit(Request("http://a.test/late")) == "host"
    life.end()


def test_what_a_limit_cut_off_waits_again(life):
    for n in range(3):
        life.frontier.admit(Request(f"http://a.test/{n}"))
    life.frontier.cut_off("time_limit")
    assert life.frontier.view.idle

    frontier = life.again()

    assert frontier.view.counts().pending == 3
    assert len(frontier.view) == 3


def test_what_is_found_after_a_limit_was_reached_waits_too(life):
    life.frontier.admit(Request("http://a.test/"))
    request = take(life.frontier)
    answer(life.frontier, request)
    life.frontier.cut_off("page_limit")
    for url in ("http://a.test/late", "http://a.test/late", "http://a.test/", "http://x.test/"):
        life.frontier.admit(Link(url, 1, request.request.url))
    life.frontier.settle(request, DONE)

    frontier = life.again()

    assert visit(frontier).url == "http://a.test/late"
    assert frontier.view.idle
    assert frontier.view.counts().turned_away == {"seen": 2, "domain": 1}


def test_what_a_callback_waited_for_belongs_to_its_page(life):
    """After a crash before the page is settled, its callback may ask for the same again."""
    life.frontier.admit(Request("http://a.test/"))
    page = take(life.frontier)
    answer(life.frontier, page)
    assert life.frontier.admit(Request("http://a.test/part"), page, is_awaited=True) is None
    part = take(life.frontier)
    answer(life.frontier, part)
    life.frontier.settle(part, DONE)
    life.journal.commits.flush()

    life.crash()
    frontier = life.begin()

    page = take(frontier)
    answer(frontier, page)
    assert frontier.admit(Request("http://a.test/part"), page, is_awaited=True) is None
    part = take(frontier)
    answer(frontier, part)
    frontier.settle(part, DONE)
    frontier.settle(page, DONE)
    frontier = life.again()
    assert frontier.view.idle
    assert frontier.admit(Request("http://a.test/part")) == "seen"


def test_a_narrower_scope_refuses_what_waits(life):
    life.frontier.admit(Request("http://a.test/"))
    life.frontier.admit(Request("http://b.test/"))
    life.scope = Scope(max_depth=None, accepted_domains=["b.test"])

    frontier = life.again()

    assert frontier.view.counts().refused == {"domain": 1}
    assert take(frontier).request.url == "http://b.test/"


def test_a_wider_scope_lets_in_what_was_turned_away(life):
    life.frontier.admit(Link("http://x.test/", 1, "http://a.test/"))
    life.frontier.admit(Link("http://y.test/", 1, "http://a.test/"))
    life.scope = Scope(max_depth=None, accepted_domains=["a.test", "x.test"])

    frontier = life.again()

    assert frontier.view.counts().turned_away == {"domain": 1}
    assert visit(frontier).url == "http://x.test/"
    assert frontier.view.idle
    assert life.again().view.idle


def test_a_nearer_find_is_remembered(tmp_path):
    life = Life(tmp_path)
    life.scope = Scope(max_depth=5, accepted_domains=["a.test"])
    life.again()
    life.frontier.admit(Link("http://a.test/x", 5, "http://a.test/far"))
    life.frontier.admit(Link("http://a.test/x", 2, "http://a.test/near"))

    frontier = life.again()
    request = take(frontier)

    assert (request.request.depth, request.request.found_on) == (2, "http://a.test/near")
    life.end()


def test_ids_never_meet(life):
    life.frontier.admit(Request("http://a.test/"))
    first = visit(life.frontier, "http://a.test/1")
    frontier = life.again()
    frontier.admit(Request("http://a.test/2", id=first.id))
    frontier.admit(Request("http://a.test/3", id="my own"))

    ids = {visit(frontier).id for _ in range(3)} | {first.id}

    assert len(ids) == 4


@given(seed=st.integers(0, 2**32), size=st.integers(1, 40), window=st.sampled_from([1, 5, 50]))
def test_no_crash_ever_loses_a_page(tmp_path_factory, seed, size, window):
    """Whatever is committed when, and however often it crashes: every page, each settled once."""
    chance = Random(seed)
    address = [f"http://{chance.choice('abc')}.test/{n}" for n in range(size)]
    links = [[chance.randrange(size) for _ in range(chance.randrange(6))] for _ in range(size)]
    life = Life(tmp_path_factory.mktemp("job"), window=window)
    life.frontier.admit(Request(address[0]))
    taken, crashes = [], 0
    while not life.frontier.view.idle:
        act = chance.random()
        if act < 0.1 and crashes < 5:
            life.crash()
            life.begin()
            life.frontier.admit(Request(address[0]))
            taken, crashes = [], crashes + 1
        elif act < 0.2:
            life.journal.commits.flush()
        elif act < 0.25:
            gevent.sleep(0)
        elif taken and (act < 0.6 or len(taken) >= 4 or not len(life.frontier.view)):
            page = taken.pop(chance.randrange(len(taken)))
            request = page.request
            for to in links[address.index(request.url)]:
                life.frontier.admit(Link(address[to], request.depth + 1, request.url))
            life.frontier.settle(page, DONE)
        elif len(life.frontier.view):
            taken.append(take(life.frontier))
            answer(life.frontier, taken[-1])
    life.end()

    reached, new = set(), {0}
    while new:
        reached |= new
        new = {to for page in new for to in links[page]} - reached
    rows = life.query("SELECT url FROM urls WHERE status = 'done' ORDER BY url")
    assert [url for (url,) in rows] == sorted(address[n] for n in reached)
    assert life.query("SELECT count(*) FROM urls WHERE status IS NULL") == [(0,)]


def test_a_request_found_after_a_limit_was_reached_keeps_what_it_says(life):
    life.frontier.cut_off("page_limit")
    life.frontier.admit(Request("http://a.test/x", callback="item", priority=3, meta={"n": 1}))

    request = take(life.again())

    assert (request.request.callback, request.request.priority, request.request.meta) == (
        "item",
        3,
        {"n": 1},
    )


def test_what_was_too_deep_at_first_is_not_lost_to_a_limit(tmp_path):
    life = Life(tmp_path)
    life.scope = Scope(max_depth=2, accepted_domains=["a.test"])
    life.again()
    life.frontier.admit(Link("http://a.test/x", 3, "http://a.test/far"))
    life.frontier.cut_off("page_limit")
    life.frontier.admit(Link("http://a.test/x", 2, "http://a.test/near"))

    assert visit(life.again()).url == "http://a.test/x"
    life.end()


def test_what_a_callback_could_not_wait_for_is_no_page_of_its_own(life):
    """It was cut off: without the callback that asked for it, it would be of no use."""
    life.frontier.admit(Request("http://a.test/"))
    page = take(life.frontier)
    answer(life.frontier, page)
    life.frontier.admit(Request("http://a.test/part"), page, is_awaited=True)
    life.frontier.cut_off("time_limit")
    life.frontier.settle(page, DONE)

    frontier = life.again()

    assert frontier.view.idle
    assert frontier.view.counts().done == 1


def test_what_a_callback_waited_for_goes_back_with_its_page(life):
    life.frontier.admit(Request("http://a.test/"))
    page = take(life.frontier)
    answer(life.frontier, page)
    life.frontier.admit(Request("http://a.test/part"), page, is_awaited=True)
    part = take(life.frontier)
    answer(life.frontier, part)
    life.frontier.put_back(page)
    life.frontier.settle(part, DONE)

    frontier = life.again()

    page = take(frontier)
    assert frontier.admit(Request("http://a.test/part"), page, is_awaited=True) is None


@pytest.mark.parametrize("made_up", ["f" * 32, "ffffffff_ffff", "-1", "0xffffffffffff", "id"])
def test_any_id_can_be_written(life, made_up):
    life.frontier.admit(Request("http://a.test/", id=made_up))
    visit(life.frontier)

    life.journal.commits.flush()

    assert life.query("SELECT url, status FROM urls") == [("http://a.test/", "done")]


def test_the_last_of_several_steps_in_one_commit_counts(tmp_path):
    life = Life(tmp_path)
    life.scope = Scope(max_depth=9, accepted_domains=["a.test"])
    life.again()
    life.frontier.admit(Request("http://a.test/0"))
    for n in range(1, 5):
        assert answer(life.frontier, take(life.frontier), 302, location=f"/{n}") is Next.AGAIN
    for depth in (9, 8, 7, 6, 5):
        life.frontier.admit(Link("http://a.test/x", depth, None))
    life.journal.commits.flush()
    life.crash()

    frontier = life.begin()

    hop, moved = take(frontier), take(frontier)
    assert (hop.request.url, len(hop.request.redirects)) == ("http://a.test/4", 4)
    assert moved.request.depth == 5
    life.end()


def test_what_a_callback_asks_for_after_a_limit_was_reached_is_no_page_of_its_own(life):
    life.frontier.admit(Request("http://a.test/"))
    page = take(life.frontier)
    answer(life.frontier, page)
    life.frontier.cut_off("page_limit")
    assert life.frontier.admit(Request("http://a.test/x"), page, is_awaited=True) == "page_limit"
    life.frontier.settle(page, DONE)

    assert life.again().view.idle


def test_what_a_callback_waits_for_may_carry_anything(life):
    """It never comes back from the store: what JSON does not know need not be written."""
    life.frontier.admit(Request("http://a.test/"))
    page = take(life.frontier)
    answer(life.frontier, page)
    life.frontier.admit(Request("http://a.test/x", meta={"any": object()}), page, is_awaited=True)
    part = take(life.frontier)
    answer(life.frontier, part)
    life.frontier.settle(part, DONE)
    life.frontier.settle(page, DONE)

    assert life.frontier.view.idle
    assert life.again().view.counts().done == 2
