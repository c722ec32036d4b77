"""A journal is cut at a checkpoint, whatever happens to whoever writes it."""

import gevent
import pytest

from crawler.cluster.checkpoints import Checkpoints
from crawler.data import Link, Request
from crawler.frontier import DONE

from .shard import holder

PAGES = 40


def work(one, pages, start=0):
    """Let shard 0 admit *pages* pages and end every second of them, in many commits."""
    shard = one.shards[0]
    for number in range(start, start + pages):
        shard.frontier.admit(Request(f"http://a.test/{number}"))
        if number % 2:
            shard.frontier.settle(shard.frontier.take(), DONE)
        one.commits.write()


def entries(one):
    return one.server.ask(lambda client: client.xlen(one.record.keys.journals[0]))


@pytest.fixture
def one(server):
    with holder(server.url) as one:
        one.open(0, "first")
        yield one


@pytest.fixture
def checkpoints(one):
    checkpoints = Checkpoints(one.server, one.record, one.shards, least=500)
    yield checkpoints
    checkpoints.close()


def test_the_next_holder_loads_what_the_whole_journal_would_have_given(one, checkpoints):
    work(one, PAGES)
    whole = one.state(0)

    assert checkpoints.write(one.shards[0])

    assert entries(one) == 0
    assert one.state(0) == whole
    work(one, 4, start=PAGES)
    assert entries(one) == 4
    again = one.open(0, "second")
    assert again.frontier.view.counts().pending == PAGES // 2 + 2
    assert again.frontier.admit(Link("http://a.test/1", 1, None)) == "seen"


def test_a_journal_does_not_grow_for_ever(one, checkpoints):
    one.commits.on_answer = checkpoints.look
    shard = one.shards[0]
    for start in range(0, 400, 20):
        work(one, 20, start)
        while checkpoints._is_due(shard):
            gevent.sleep(0.001)

    assert entries(one) < 200
    assert one.state(0).last - (1 << 40) == 399
    assert len(one.state(0).pending) == 200


@pytest.mark.parametrize("sent", [0, 1, 2])
def test_a_checkpoint_that_was_not_finished_does_not_count(one, checkpoints, monkeypatch, sent):
    work(one, PAGES)
    whole, calls, real = one.state(0), [], one.server.call

    def call(script, *args):
        if len(calls) == sent:
            raise InterruptedError
        calls.append(script)
        return real(script, *args)

    monkeypatch.setattr(one.server, "call", call)
    with pytest.raises(InterruptedError):
        checkpoints.write(one.shards[0])
    monkeypatch.undo()

    assert entries(one) == PAGES
    assert one.state(0) == whole
    assert checkpoints.write(one.shards[0])
    assert one.state(0) == whole
    assert entries(one) == 0


def test_a_piece_that_is_sent_again_is_there_once(one, checkpoints, monkeypatch):
    work(one, PAGES)
    whole, real = one.state(0), one.server.call

    def twice(script, *args):
        real(script, *args)
        return real(script, *args)

    monkeypatch.setattr(one.server, "call", twice)
    assert checkpoints.write(one.shards[0])
    monkeypatch.undo()

    assert one.state(0) == whole


def test_who_has_lost_the_shard_writes_nothing(one, checkpoints):
    work(one, PAGES)
    old = one.shards[0]
    one.claim(0, "another")

    assert not checkpoints.write(old)

    assert entries(one) == PAGES


def test_after_a_restart_of_the_server_nothing_is_written_before_shards_were_compared(
    one, checkpoints
):
    work(one, PAGES)
    one.server.life = "the life before"

    assert not checkpoints.write(one.shards[0])

    assert entries(one) == PAGES
