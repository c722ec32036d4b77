"""Leases that have run out are claimed, and transfers of shards that may be lost are closed."""

import os
import signal
from contextlib import contextmanager

import gevent
import pytest
from gevent.event import Event

from .joined import PAGES, is_whole, join


@pytest.fixture
def ttl():
    """Leases soon run out."""
    return 1.0


def test_the_shards_of_a_scheduler_that_dies_are_claimed(server, client, record, site):
    dead, _ = join(server, record, site)
    while len(site.requests) < PAGES // 4:
        gevent.sleep(0.005)
    # It takes, commits, reads and renews nothing any more.
    dead.frontier.pause()
    dead.leases.close()
    dead.inboxes.close()
    dead.held.commits._writing.kill()
    dead.held.commits.failure = RuntimeError("dead")

    _, living = join(server, record, site)
    living.wait()

    is_whole(client, record, site)


def test_nothing_is_taken_while_the_server_is_nearly_full(server, client, record, site):
    client.setrange("filler", 30_000_000, b"x")
    client.config_set("maxmemory", 36_000_000)
    try:
        member, result = join(server, record, site)
        while not member.held.active or not member.frontier.waits_for:
            gevent.sleep(0.01)
        assert "maxmemory" in member.frontier.waits_for
        assert not site.requests
    finally:
        client.config_set("maxmemory", 0)
    client.delete("filler")
    result.wait()

    is_whole(client, record, site)


@contextmanager
def no_answers(server, _client, _record):
    """The server answers nobody."""
    os.kill(server.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(server.pid, signal.SIGCONT)


@contextmanager
def another_owner(_server, client, record):
    """All leases have another owner, who never renews them."""
    for lease in record.keys.leases[:-1]:
        client.hset(lease, "token", "another's")
    yield


@pytest.mark.parametrize("lose", [no_answers, another_owner])
def test_a_transfer_is_closed_when_its_shard_may_be_lost(server, client, record, site, lose):
    answers, page = Event(), site.pages["/page/0"]
    site.pages["/page/0"] = lambda request: answers.wait(120) and page(request)
    member, result = join(server, record, site)
    while not site.requests:
        gevent.sleep(0.005)
    assert len(member.frontier._owners) == 1

    with lose(server, client, record):
        while member.frontier._owners:  # nothing of the page has arrived
            gevent.sleep(0.01)
        assert not answers.is_set()
    answers.set()
    result.wait()

    assert [hit.path for hit in site.requests][:2] == ["/page/0"] * 2
    counted = member.leases.rejoins if lose is no_answers else member.held.fenced
    assert counted > 0
    is_whole(client, record, site)
