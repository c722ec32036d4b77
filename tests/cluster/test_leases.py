"""Which leases are lost, and which may be claimed."""

import pytest

from crawler.cluster.leases import Lease, LeaseTable

from .shard import holder


def lease(token="", beat="0"):
    return Lease(token, beat, 0, "0")


def test_a_lease_has_expired_when_it_was_seen_unchanged_for_its_time():
    table = LeaseTable(1, ttl=10)
    for now, beat, claimable in ((0, "1", []), (9, "1", []), (9.5, "2", []), (19.6, "2", [0])):
        table.observe([lease("other", beat)], now)
        assert list(table.claimable(now)) == claimable


def test_after_an_interruption_it_is_observed_anew():
    table = LeaseTable(1, ttl=10)
    table.observe([lease("other", "1")], 0)
    table.forget(9)
    table.observe([lease("other", "1")], 12)

    assert list(table.claimable(12)) == []
    assert list(table.claimable(19)) == [0]


def test_a_claim_that_a_renewal_sent_before_could_not_show_is_not_lost():
    table = LeaseTable(2, ttl=10)
    table.mine[0] = ("mine", 5.0)
    table.observe([lease(), lease()], 6)

    assert table.lost(sent=4.0) == []
    assert table.lost(sent=5.5) == [0]
    assert list(table.claimable(6)) == [1]


def test_the_next_lease_to_expire_is_one_of_another_that_was_not_renewed():
    table = LeaseTable(3, ttl=10)
    assert table.next_expiry(0) is None
    table.mine[0] = ("mine", 0.0)
    table.observe([lease("mine", "1"), lease("other", "1"), lease("dead", "1")], 1)
    table.observe([lease("mine", "1"), lease("other", "2"), lease("dead", "1")], 9)

    assert table.next_expiry(9) == 2
    assert table.next_expiry(11) == 8
    assert table.next_expiry(19) is None


def test_no_two_tokens_are_alike():
    tables = [LeaseTable(1, 1) for _ in range(50)]

    assert len({table.new_token() for table in tables for _ in range(20)}) == 1000


@pytest.fixture
def one(server):
    with holder(server.url) as one:
        yield one


def test_a_claim_names_what_was_seen_and_fails_if_that_has_changed(one):
    assert one.claim(0, "first") == [b"OK", 0]
    assert one.claim(0, "second", seen="", beat="0") == [b"TAKEN"]
    assert one.claim(0, "second", seen="first", beat="0") == [b"TAKEN"]
    assert one.claim(0, "second", seen="first", beat="1") == [b"OK", 0]


def test_after_a_restart_a_free_lease_is_not_claimed_before_lost_claims_have_run_out(one):
    job = one.record.keys.job
    one.client.hset(job, "calm", "the life before")
    assert one.claim(0, "mine") == [b"CALM"]

    one.server.call("mark", [job], "calm", one.server.life)

    assert one.claim(0, "mine")[0] == b"OK"


def test_nothing_is_claimed_in_another_life(one):
    one.client.hset(one.record.keys.job, "life", "the life before")

    assert one.claim(0, "mine") == [b"LIFE"]


def test_a_renewal_adds_a_beat_to_our_leases_only_and_shows_all(one):
    one.claim(0, "mine")
    keys = one.record.keys
    names = [keys.job, keys.here, keys.changes, *keys.leases]

    before = one.server.call("renew", names, "me", 2, "{}", "mine", "")
    after = one.server.call("renew", names, "me", 2, "{}", "mine", "another's")

    assert before[8:10] == [b"mine", b"2"]
    assert after[8:10] == [b"mine", b"3"]
    assert after[12:14] == [b"", b"0"]
    assert after[5:7] == [1, 0]


def test_a_lease_is_given_back_only_by_its_holder_and_with_its_last_batch(one):
    one.claim(0, "mine")
    lease = [one.record.keys.leases[0]]

    assert one.server.call("release", lease, "another's", 0) == 0
    assert one.server.call("release", lease, "mine", 1) == 0
    assert one.server.call("release", lease, "mine", 0) == 1
    assert one.claim(0, "next")[0] == b"OK"
