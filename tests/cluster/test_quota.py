"""Limits hold for all schedulers of a job together."""

import json

import pytest
from gevent.event import Event

from crawler.cluster.quota import Quota
from crawler.frontier import Budget

from .joined import join
from .shard import holder


@pytest.mark.parametrize("limit", [1, 7, 30])
def test_schedulers_begin_as_many_pages_as_the_job_may_have(server, client, record, site, limit):
    members = [join(server, record, site, limits=Budget(pages=limit)) for _ in range(2)]
    for _, result in members:
        result.wait()

    assert client.hget(record.keys.job, "status") == b"finished"
    assert client.hget(record.keys.job, "limit") == b"page_limit"
    assert sum(result.summary.urls.done for _, result in members) == limit
    begun = [hit for hit in site.requests if not is_hop(hit)]
    assert len(begun) == limit


def is_hop(hit):
    """Return whether a request leads to a page that is reached by a redirect."""
    kind, number = hit.path.split("/")[-2:]
    return kind == "page" and int(number) % 5 == 0 and number != "0"


@pytest.fixture
def one(server):
    with holder(server.url, shards=2) as one:
        yield one


def grant(one, id_="one", *, pages="", size="", errors="", seconds="", held=0, wants=1):
    keys = one.record.keys
    one.client.hset(keys.here, id_, "99999999999 {}")
    names = [keys.job, keys.quota, keys.here, *keys.leases]
    more, limit = one.server.call("grant", names, id_, 2, pages, size, errors, seconds, held, wants)
    return more, limit.decode()


def commit_counts(one, shard, begun=0, size=0, errors=0):
    counts = {"frontier": {"begun": begun, "bytes": size}, "counts": {"failed": {"x": errors}}}
    one.client.hset(one.record.keys.leases[shard], "counts", json.dumps(counts))


def test_what_was_begun_and_what_may_be_are_never_more_than_the_limit(one):
    commit_counts(one, 0, begun=20)
    commit_counts(one, 1, begun=30)

    assert grant(one, "a", pages=100) == (12, "")
    assert grant(one, "b", pages=100) == (4, "")
    assert grant(one, "a", pages=100, held=12, wants=0) == (0, "")
    assert grant(one, "b", pages=66, held=4) == (0, "")  # those of a may come back
    assert grant(one, "a", pages=66, held=0, wants=0) == (0, "")
    assert grant(one, "b", pages=66, held=4) == (1, "")


def test_pages_of_a_scheduler_that_died_are_given_to_others(one):
    assert grant(one, "dead", pages=4) == (1, "")
    one.client.hset(one.record.keys.here, "dead", "1000 {}")
    commit_counts(one, 0, begun=3)

    assert grant(one, "b", pages=4) == (1, "")


def test_the_limit_is_reached_when_nobody_may_begin_a_page(one):
    commit_counts(one, 0, begun=5)

    assert grant(one, "a", pages=6) == (1, "")
    assert grant(one, "b", pages=6) == (0, "")
    commit_counts(one, 0, begun=6)
    assert grant(one, "a", pages=6, held=0) == (0, "page_limit")
    assert grant(one, "b", pages=6) == (0, "page_limit")


@pytest.mark.parametrize(
    ("limits", "reached"),
    [
        ({"size": 1000}, ""),
        ({"size": 999}, "byte_limit"),
        ({"errors": 8}, ""),
        ({"errors": 7}, "error_limit"),
        ({"seconds": 100_000}, ""),
    ],
)
def test_bytes_and_errors_of_all_shards_count(one, limits, reached):
    commit_counts(one, 0, size=500, errors=3)
    commit_counts(one, 1, size=499, errors=4)

    assert grant(one, **limits) == (0, reached)


def test_time_counts_from_the_start_of_the_job(one):
    one.client.hset(one.record.keys.job, "began", 1000)

    assert grant(one, seconds=60) == (0, "time_limit")


def test_a_page_that_another_gives_back_is_begun_soon(one):
    keys, woken = one.record.keys, Event()
    one.client.hset(keys.here, "other", "99999999999 {}")
    one.client.hset(keys.quota, "other", 1)
    limits = Budget(pages=1)
    quota = Quota(
        one.server, one.record, limits, one.shards, id_="me", on_limit=bool, wake=woken.set
    )
    assert not quota.may_begin(["waits"])

    woken.wait()
    assert not quota.may_begin(["waits"])
    one.client.hset(keys.quota, "other", 0)
    while not quota.may_begin(["waits"]):
        woken.clear()
        woken.wait()
    quota.close()


def test_a_job_without_limits_asks_for_nothing(server, client, record, site):
    _, result = join(server, record, site)
    result.wait()

    assert not client.exists(record.keys.quota)
