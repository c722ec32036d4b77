"""After a restart of the server, shards that are ahead of its state go back to that."""

import pytest

from crawler.cluster.comparison import is_there
from crawler.data import Request

from .shard import holder


@pytest.fixture
def one(server):
    with holder(server.url, shards=2) as one:
        one.commits._writing.kill()  # calls are made when the test makes them
        one.open(0, "t0")
        one.shards[0].frontier.admit(Request("http://a.test/"))
        one.commits.write()
        yield one


@pytest.fixture
def shard(one):
    return one.shards[0]


def test_a_shard_that_is_there_as_it_was_answered_goes_on(one, shard):
    assert shard.seq == 1
    assert is_there(one.server, shard, None)


@pytest.mark.parametrize(("field", "value"), [("token", "another"), ("seq", "0"), ("seq", "2")])
def test_a_shard_of_another_or_with_another_number_goes_back(one, shard, field, value):
    one.client.hset(one.record.keys.leases[0], field, value)

    assert not is_there(one.server, shard, None)


def test_a_shard_that_is_lost_goes_back(one, shard):
    one.client.delete(one.record.keys.leases[0])

    assert not is_there(one.server, shard, None)


def test_a_call_in_doubt_is_answered_by_its_number(one, shard):
    one.client.hset(one.record.keys.leases[0], "seq", "2")

    assert is_there(one.server, shard, 2)


def test_a_shard_that_has_read_what_the_server_has_lost_goes_back(one, shard):
    for name in ("x", "y"):
        shard.journal.send(0, [1, "http://a.test/", [f"http://a.test/{name}"]])
        one.commits.write()
    one.receive(0)
    assert is_there(one.server, shard, None)

    one.client.xdel(one.record.keys.inboxes[0], shard.read[-1])

    assert not is_there(one.server, shard, None)
