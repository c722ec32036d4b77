"""What Redis knows of a job, while schedulers work on it."""

import gevent
import pytest

from crawler.cluster.job_record import COMMANDS, control_job, create_job
from crawler.cluster.status import job_names, job_status
from crawler.errors import ClusterError

from .joined import PAGES, join
from .shard import holder


def status_when(server, is_so):
    while not is_so(found := job_status(server.url, "job")):
        gevent.sleep(0.02)
    return found


def asked(found):
    return list(found["asked"]["of"].values())


@pytest.fixture
def paused(server, record, site):
    """Two schedulers of a job that is paused, once each has its half of the shards and has said so."""
    control_job(server.url, "job", "pause", "anna")
    members = [join(server, record, site) for _ in range(2)]

    def is_paused(found):
        shards = [one["shards"] for one in found["schedulers"]]
        statuses = [one["status"] for one in found["schedulers"]]
        states = {row["state"] for row in found["shard_table"]}
        return shards == [2, 2] and statuses == ["paused"] * 2 and states == {"held"}

    try:
        status_when(server, is_paused)
        yield members
    finally:
        control_job(server.url, "job", "stop")
        for _, result in members:
            result.wait()


def test_each_shard_names_its_scheduler(server, paused):
    found = job_status(server.url, "job")

    ids = {member.leases.id for member, _ in paused}
    held = {member.leases.id: set(member.held.active) for member, _ in paused}
    assert {one["id"] for one in found["schedulers"]} == ids
    for row in found["shard_table"]:
        assert row["state"] == "held"
        assert row["shard"] in held[row["scheduler"]]
    assert found["silent"] == []


def test_a_command_is_confirmed_by_each_scheduler(server, site, paused):
    assert control_job(server.url, "job", "resume", "bob") == "paused"
    found = status_when(server, lambda found: asked(found) == ["done"] * 2)

    assert (found["asked"]["command"], found["asked"]["by"]) == ("resume", "bob")
    assert {one["status"] for one in found["schedulers"]} <= {"running", "finished"}


def test_a_scheduler_that_does_not_answer_is_silent(server, client, record, paused):
    now = int(client.time()[0])
    client.hset(record.keys.here, "gone:1:a", f"{now - 6000} " + '{"shards": 0, "done": 0}')

    control_job(server.url, "job", "stop")
    found = status_when(server, lambda found: sorted(asked(found)) == ["done", "done", "silent"])

    assert [one["id"] for one in found["silent"]] == ["gone:1:a"]
    assert found["schedulers"] == []


def test_takeovers_are_counted(server):
    with holder(server.url, shards=2) as one:
        name = one.record.keys.name
        one.open(0, "mine")
        assert job_status(server.url, name)["takeovers"] == 0

        one.claim(0, "theirs")
        found = job_status(server.url, name)

    assert (found["takeovers"], found["shard_table"][0]["takeovers"]) == (1, 1)
    assert [row["state"] for row in found["shard_table"]] == ["waiting", "free"]


def test_records_that_nobody_collects_wait(server, client, record, site):
    assert job_status(server.url, "job")["collector_lag"] == 0
    _, result = join(server, record, site)
    result.wait()

    while not job_status(server.url, "job")["collector_lag"]:
        gevent.sleep(0.02)
    client.hset(record.keys.collector, "beat", 2)
    client.xtrim(record.keys.log, maxlen=1, approximate=False)  # what a collector leaves

    assert job_status(server.url, "job")["collector_lag"] == 0
    assert job_status(server.url, "job")["urls"]["done"] == PAGES


def test_jobs_are_listed_by_name(server, client, record):
    create_job(server.url, "a.b", {}, shards=1)
    client.set("crawler:else", "x")

    assert job_names(server.url) == ["a.b", "job"]


def test_a_job_that_is_over_obeys_nothing(server, client, record):
    client.hset(record.keys.job, "status", "finished")

    for command in COMMANDS:
        assert control_job(server.url, "job", command) == "finished"
    assert job_status(server.url, "job")["asked"] is None
    with pytest.raises(ClusterError, match="no job 'other'"):
        job_status(server.url, "other")
