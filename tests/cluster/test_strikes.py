"""A page that ends schedulers is analysed alone, and set aside the third time."""

import os
from contextlib import closing

import gevent
import pytest
from gevent.event import Event

from crawler.cluster.blob import pack, unpack
from crawler.cluster.frontier import ClusterFrontier
from crawler.cluster.inboxes import _COUNT, Inboxes
from crawler.cluster.server import Server
from crawler.cluster.strikes import MarkFile, Strike, Strikes, mark_of, strikes_of_the_dead
from crawler.data import Request
from crawler.frontier.hosts.wakeup import Wakeup

from .joined import join
from .shard import holder


def test_the_third_strike_counts_if_the_page_was_alone_and_else_the_tenth():
    alone, together = Strikes({}), Strikes({})
    for _ in range(3):
        assert not alone.is_out(1)
        alone.add(1, is_alone=True)
    for _ in range(10):
        assert not together.is_out(1)
        together.add(1, is_alone=False)

    assert alone.is_out(1)
    assert together.is_out(1)
    assert Strikes(alone.numbers).is_out(1)
    assert 2 not in alone


def test_the_mark_of_a_page_names_its_shard_and_where_it_was_found():
    page = Request("http://a.test/1")
    hop = Request("http://a.test/2", redirects=("http://a.test/1",))

    assert mark_of(1023, page) == mark_of(1023, hop) != mark_of(1022, page)
    assert Strike(mark_of(1023, page), True).shard == 1023
    assert mark_of(1023, page) < 2**63


def test_the_marks_of_a_process_that_has_died_are_strikes_once(tmp_path):
    one, other, living = (MarkFile(tmp_path) for _ in range(3))
    for file, marks in ((one, [7]), (other, [8, 9]), (living, [10])):
        for mark in marks:
            file.marker.mark(mark)
    one.marker.clear(7)
    one.marker.mark(11)
    for file in (one, other):
        os.close(file._lock)  # as the end of a process does
        file.marker.close()

    found = sorted(map(sorted, strikes_of_the_dead(tmp_path)))

    assert found == [[Strike(8, False), Strike(9, False)], [Strike(11, True)]]
    assert [*strikes_of_the_dead(tmp_path)] == []
    living.close()
    assert [*tmp_path.iterdir()] == []


@pytest.fixture
def one(server):
    with holder(server.url) as one:
        yield one


def test_strikes_are_kept_in_the_journal(one):
    shard = one.open(0, "first")
    shard.journal.struck(Strike(5, True))
    one.commits.write()

    assert one.open(0, "second").journal.strikes.numbers == {5: 1}


def frontier_of(one):
    options = {"wait_for_room": bool, "on_begin": bool, "on_close": bool}
    return ClusterFrontier(one.shards, one._map, Wakeup(), may_take=str, **options)


def test_a_shard_that_was_loaded_is_not_taken_from_before_its_strikes_are_read(one, server):
    shard = one.open(0, "first")
    shard.frontier.admit(Request("http://a.test/1"))
    one.commits.write()
    strike = {"strike": [mark_of(0, Request("http://a.test/1")), True]}
    for _ in range(_COUNT + 1):  # more than one read has
        one.server.post(0, strike)
    frontier, caught_up = frontier_of(one), Event()

    taking = gevent.spawn(frontier.take)
    gevent.idle()
    assert shard.taken == 0
    reader = Server(server.url, one.record.keys, lambda: True)
    with closing(Inboxes(reader, one.shards, bool, caught_up.set)):
        assert caught_up.wait(timeout=120)

    assert shard.journal.strikes.is_out(mark_of(0, Request("http://a.test/1")))
    assert shard.may_take
    taking.kill()


def test_a_page_that_has_three_strikes_is_not_taken_any_more(one):
    shard = one.open(0, "first")
    for number in range(3):
        shard.frontier.admit(Request(f"http://a.test/{number}"))
    bad, suspect = (Request(f"http://a.test/{n}") for n in (1, 2))
    for entry in range(3):
        shard.receive(f"{entry + 1}-0", pack([{"strike": [mark_of(0, bad), True]}]))
    shard.receive("4-0", pack([{"strike": [mark_of(0, suspect), True]}]))
    shard.is_caught_up = True
    frontier = frontier_of(one)
    dropped = []
    frontier.events.on_drop = lambda request, outcome: dropped.append((request.url, outcome.reason))

    found = {taken.request.url: taken.is_suspect for taken in (frontier.take(), frontier.take())}

    assert found == {"http://a.test/0": False, suspect.url: True}
    assert dropped == [(bad.url, "quarantined")]
    assert shard.frontier.view.counts().failed == {"quarantined": 1}


def test_who_loses_a_shard_strikes_what_it_analysed(server, client, record, site):
    member, result = join(server, record, site)
    while not member.held.active:
        gevent.sleep(0.01)
    [shard, *_] = member.held.active.values()
    member.frontier.pause()
    shard.journal.marks.begin(Request("http://a.test/bad"))

    member.held.drop(shard)
    inbox = record.keys.inboxes[shard.number]
    while not (found := client.xrange(inbox)):
        gevent.sleep(0.01)

    strikes = [what for _, fields in found for what in unpack(fields[b"links"])]
    assert {"strike": [mark_of(shard.number, Request("http://a.test/bad")), True]} in strikes
    result.stop()
