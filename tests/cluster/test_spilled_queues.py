"""Requests that do not fit in memory wait in a file, and come back in their order."""

import gevent
import pytest

from crawler.data import Request
from crawler.frontier import DONE

from .shard import holder

PAGES = 200


@pytest.fixture
def one(server):
    with holder(server.url) as one:
        yield one


def admit(shard, numbers, hosts=1):
    for number in numbers:
        shard.frontier.admit(Request(f"http://{number % hosts}.test/{number}", depth=number // 50))


def take_all(shard):
    found = []
    while len(shard.frontier.view):
        taken = shard.frontier.take()
        found.append(int(taken.request.url.rpartition("/")[2]))
        shard.frontier.settle(taken, DONE)
    return found


@pytest.mark.parametrize("hosts", [1, 30])
def test_every_request_comes_back_once_and_those_of_a_host_in_their_order(one, hosts):
    shard = one.open(0, "first", window=20)
    admit(shard, range(PAGES), hosts)

    assert shard.journal.overflow.size >= PAGES - 20 - hosts
    assert len(shard.frontier.view) == PAGES
    found = take_all(shard)

    assert sorted(found) == [*range(PAGES)]
    for host in range(hosts):
        of_host = [number for number in found if number % hosts == host]
        assert of_host == sorted(of_host)


def test_a_shard_is_loaded_into_the_file_if_it_is_too_large(one):
    admit(one.open(0, "first", window=20), range(PAGES))
    one.commits.write()

    again = one.open(0, "second", window=20)

    assert again.journal.overflow.size >= PAGES - 20
    assert sorted(take_all(again)) == [*range(PAGES)]
    assert again.frontier.view.counts().done == PAGES


def test_what_is_cut_off_is_refused_in_the_file_too(one):
    shard = one.open(0, "first", window=20)
    admit(shard, range(2000))

    shard.frontier.cut_off("page_limit")
    while shard.frontier.view.counts().pending:
        gevent.sleep(0.001)

    assert shard.frontier.view.counts().refused == {"page_limit": 2000}


def test_a_shard_that_is_dropped_leaves_no_file(one):
    shard = one.open(0, "first", window=20)
    admit(shard, range(PAGES))
    taken = shard.frontier.take()

    one._drop(shard)
    shard.frontier.settle(taken, DONE)

    assert shard.journal.overflow._file is None
