"""The commit: one script, everything or nothing. The rules of the protocol, one by one."""

import gevent
import pytest

from crawler.cluster.blob import pack, unpack
from crawler.data import Link, Request
from crawler.errors import RedisAway
from crawler.frontier import DONE

from .shard import holder

HOSTS = ("a.test", "b.test", "c.test", "d.test", "e.test")


@pytest.fixture
def two(server):
    """Two shards of one owner."""
    with holder(server.url, shards=2) as one:
        one.commits._writing.kill()  # calls are made when the test makes them
        one.open(0, "t0")
        one.open(1, "t1")
        one.client.hset(one.record.keys.leases[2], "pending", 0)  # no first requests
        yield one


def host_in(shard, one):
    return next(name for name in HOSTS if one._map.of_host(name) == shard)


def page(shard, one, name=""):
    return Request(f"http://{host_in(shard, one)}/{name}")


def dump(one):
    """All that Redis has of the job."""
    read = {b"hash": one.client.hgetall, b"stream": one.client.xrange}
    return {key: read[one.client.type(key)](key) for key in one.client.keys("*")}


def end(one, shard, number=1):
    for _ in range(number):
        frontier = one.shards[shard].frontier
        frontier.settle(frontier.take(), DONE)


def gathered(one):
    return one.commits._gather(one.commits._changed())


def test_a_call_that_is_repeated_changes_nothing(two):
    two.shards[0].frontier.admit(page(0, two))
    call = gathered(two)
    two.commits._send(call)
    before = dump(two)

    two.commits._send(call)

    assert dump(two) == before
    assert two.shards[0].seq == 1


def test_a_lost_answer_is_asked_for_again_and_the_call_is_there_once(two, monkeypatch):
    two.shards[0].frontier.admit(page(0, two))
    two.server._is_ended = lambda: False
    real, calls = two.server.call, []

    def call(*args):
        calls.append(args)
        answer = real(*args)
        if len(calls) == 1:
            raise RedisAway("the answer is lost")
        return answer

    monkeypatch.setattr(two.server, "call", call)
    two.commits.write()

    assert len(calls) == 2
    assert calls[0] == calls[1]
    assert two.client.xlen(two.record.keys.journals[0]) == 1


def test_one_lost_shard_keeps_everything_from_being_written_and_the_others_go_again(two):
    for shard in (0, 1):
        two.shards[shard].frontier.admit(page(shard, two))
    two.client.hset(two.record.keys.leases[0], "token", "another's")
    call = gathered(two)
    keys = two.record.keys
    names, args = call.keys_and_args(keys, two.server.life, (1, 1), looks=False)
    before = dump(two)

    assert two.server.call("commit", names, *args) == [b"LOST", b"0"]
    assert dump(two) == before

    two.commits._send(call)

    assert two.dropped == [0]
    assert two.shards[1].seq == 1
    assert two.client.xlen(two.record.keys.journals[0]) == 0
    assert two.client.xlen(keys.journals[1]) == 1


def test_a_shard_that_is_ahead_of_redis_is_dropped(two):
    two.shards[0].frontier.admit(page(0, two))
    two.commits.write()
    two.shards[0].seq += 1  # Redis has lost a batch

    two.shards[0].frontier.admit(page(0, two, "more"))
    two.commits.write()

    assert two.dropped == [0]
    assert two.client.xlen(two.record.keys.journals[0]) == 1


def test_a_full_server_refuses_the_whole_call(two):
    """Also what would make room there, such as trimming an inbox: the rows that it has are in this call."""
    two.shards[1].journal.send(0, [1, "http://a.test/", [page(0, two, "x").url]])
    two.commits.write()
    assert two.commits.links_sent == 1
    two.receive(0)
    client = two.client
    before = dump(two)
    client.config_set("maxmemory", 1)
    try:
        two.commits.write()
        assert dump(two) == before
    finally:
        client.config_set("maxmemory", 0)

    assert "raise its maxmemory" in str(two.commits.failure)
    assert two.shards[0].seq == 0
    assert client.xlen(two.record.keys.inboxes[0]) == 1


def test_nothing_is_committed_in_another_life(two):
    two.shards[0].frontier.admit(page(0, two))
    call = gathered(two)
    names, args = call.keys_and_args(two.record.keys, "another life", (1, 1), looks=False)

    assert two.server.call("commit", names, *args) == [b"LIFE"]
    assert two.client.xlen(two.record.keys.journals[0]) == 0


def test_a_link_to_another_shard_of_the_same_owner_goes_through_its_inbox(two):
    """Else the page is committed in one shard, the row is dropped with the other: it is lost."""
    two.shards[0].frontier.admit(page(0, two))
    taken = two.shards[0].frontier.take()
    two.shards[0].admit(Link(page(1, two, "x").url, 1, None), taken)
    two.shards[0].frontier.settle(taken, DONE)

    assert two.shards[1].frontier.view.idle
    two.commits.write()
    two._drop(two.shards[1])
    two.open(1, "t2")
    two.receive(1)

    assert two.shards[1].frontier.take().request.url == page(1, two, "x").url


def test_what_a_dropped_shard_has_sent_is_sent_again(two):
    link = Link(page(1, two, "x").url, 1, None)
    two.shards[0].frontier.admit(page(0, two))
    two.commits.write()
    taken = two.shards[0].frontier.take()
    two.shards[0].admit(link, taken)
    two.shards[0].frontier.settle(taken, DONE)
    two._drop(two.shards[0])  # before the commit

    again = two.open(0, "t2")
    taken = again.frontier.take()
    again.admit(link, taken)
    again.frontier.settle(taken, DONE)
    two.commits.write()
    two.receive(1)

    assert two.shards[1].frontier.take().request.url == link.url


def test_what_ends_in_a_dropped_shard_leaves_no_trace(two):
    shard = two.shards[0]
    shard.frontier.admit(page(0, two))
    two.commits.write()
    taken = shard.frontier.take()
    before = dump(two)
    two._drop(shard)

    shard.admit(Link(page(1, two).url, 1, None), taken)
    shard.frontier.settle(taken, DONE)
    two.commits.write()

    assert dump(two) == before


def test_an_inbox_entry_is_trimmed_with_the_batch_that_has_its_links(two):
    two.shards[0].journal.send(1, [1, "http://a.test/", [page(1, two, "x").url]])
    two.commits.write()
    inbox = two.record.keys.inboxes[1]
    two.receive(1)
    assert two.client.xlen(inbox) == 1

    two.commits.write()

    assert two.client.xlen(inbox) == 0
    assert int(two.client.hget(two.record.keys.leases[1], "inbox")) == 0
    assert two.shards[1].read == []
    assert len(two.state(1).pending) == 1


def test_an_inbox_entry_that_has_nothing_new_is_due_for_a_commit(two):
    two.commits.write()
    two.shards[1].receive("1-0", pack([[1, "http://a.test/", ["mailto:nobody"]]]))

    assert two.commits._due.is_set()
    assert two.shards[1].journal.batch


def test_a_job_is_finished_when_all_is_committed_and_not_before(two):
    two.shards[0].frontier.admit(page(0, two))
    two.shards[1].frontier.admit(page(1, two))
    two.commits.write()
    end(two, 0)
    two.shards[0].journal.send(1, [1, "http://a.test/", [page(1, two, "x").url]])
    two.commits.write()
    end(two, 1)
    two.commits.write()
    assert set(two.statuses) == {"running"}  # a link is in an inbox

    two.receive(1)
    end(two, 1)
    two.commits.write()

    assert two.statuses[-1] == "finished"


def test_a_job_whose_first_requests_were_not_sent_is_not_finished(two):
    two.client.hset(two.record.keys.leases[2], "pending", 1)
    two.shards[0].frontier.admit(page(0, two))
    end(two, 0)
    two.commits.write()

    assert two.statuses == ["running"]


def test_a_repeated_call_notices_the_finish_too(two):
    two.shards[0].frontier.admit(page(0, two))
    end(two, 0)
    call = gathered(two)
    two.commits._send(call)
    two.client.hset(two.record.keys.job, "status", "running")  # as if its answer was lost

    two.commits._send(call)

    assert two.statuses == ["finished", "finished"]


@pytest.mark.parametrize("bounds", [(1, 10**9), (10**9, 1)], ids=["inbox", "log"])
def test_what_is_over_its_bound_holds_taking_and_never_a_commit(server, bounds):
    with holder(server.url, shards=2, bounds=bounds) as one:
        first = one.open(0, "t0")
        second = one.open(1, "t1")
        first.frontier.admit(page(0, one))
        taken = first.frontier.take()
        first.admit(Link(page(1, one, "x").url, 1, None), taken)
        first.frontier.settle(taken, DONE)
        one.commits.write()
        assert not one.commits.has_space.is_set()
        waiting = gevent.spawn(one.commits.wait_for_room)

        first.frontier.admit(page(0, one, "more"))
        one.commits.write()
        assert first.seq == 2
        assert not waiting.ready()

        one.client.hset(one.record.keys.job, "log_bytes", 0)
        one.receive(1)
        one.commits.write()
        assert second.seq == 1
        waiting.get(timeout=120)


def test_counts_that_do_not_add_up_are_refused(two):
    two.shards[0].frontier.admit(page(0, two))
    two.commits.write()
    lease = two.record.keys.leases[0]
    counts = two.client.hget(lease, "counts").decode()
    two._drop(two.shards[0])
    two.client.hset(lease, "counts", counts.replace('"done":0', '"done":1'))

    with pytest.raises(Exception, match="shard 0 does not add up"):
        two.open(0, "t2")


def test_a_shard_whose_counts_do_not_add_up_is_not_committed(two):
    shard = two.shards[0]
    shard.frontier.admit(page(0, two))
    shard.frontier._parts.ledger.done += 1

    two.commits.write()

    assert "shard 0 does not add up" in str(two.commits.failure)
    assert not two.client.xlen(two.record.keys.journals[0])


def test_an_inbox_gets_one_entry_of_a_call_whatever_the_number_of_its_senders(two):
    for sender in (0, 1):
        two.shards[sender].journal.send(2, {"from": sender})
        two.shards[sender].frontier.admit(page(sender, two))
    keys, call = two.record.keys, gathered(two)

    names, args = call.keys_and_args(keys, "life", (5, 6), looks=False)

    assert args[2:6] == [2, 1, 5, 6]
    assert names[-2:] == [keys.leases[2], keys.inboxes[2]]
    assert unpack(args[-1]) == [{"from": 1}, {"from": 0}]

    two.commits.lose(call, 0)

    assert unpack(call.keys_and_args(keys, "life", (5, 6), looks=False)[1][-1]) == [{"from": 1}]


def test_all_shards_are_looked_at_only_by_a_call_that_may_finish_the_job(two):
    two.shards[0].frontier.admit(page(0, two))
    busy = gathered(two)
    two.commits._send(busy)
    end(two, 0)
    last = gathered(two)

    assert not busy.may_finish
    assert last.may_finish

    two.shards[0].journal.send(1, {"a": "link"})
    assert not gathered(two).may_finish


def test_large_records_are_sent_in_several_calls_and_all_of_them(two, monkeypatch):
    monkeypatch.setattr("crawler.cluster.commits._GROUP_BYTES", 1)
    for shard in (0, 1):
        two.shards[shard].frontier.admit(page(shard, two))
        end(two, shard)

    two.commits.write()

    assert two.client.xlen(two.record.keys.log) == 2
    assert [two.shards[shard].seq for shard in (0, 1)] == [1, 1]
    assert not two.commits._changed()


def test_nothing_is_taken_while_too_many_bytes_wait_for_redis(two, monkeypatch):
    monkeypatch.setattr("crawler.cluster.commits._MOST_BYTES", 10)
    two.shards[0].frontier.admit(page(0, two))
    end(two, 0)

    assert two.commits._is_behind
    waiting = gevent.spawn(two.commits.wait_for_room)
    two.commits.write()

    waiting.get(timeout=120)
    assert not two.commits._is_behind
