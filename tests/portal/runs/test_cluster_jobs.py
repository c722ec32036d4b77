"""What the portal asks of Redis; the pages of real jobs are in test_cluster_pages."""

from contextlib import closing

import gevent
import pytest
from gevent.event import Event
from gevent.server import StreamServer

from crawler.cluster.job_record import create_job
from crawler.cluster.redis import connect
from crawler.errors import RedisAway, StateError
from crawler.portal.runs.cluster_jobs import ClusterJobs

from ...cluster.shard import shared_server


@pytest.fixture
def server():
    with closing(connect(shared_server().url)) as client:
        client.flushall()
    return shared_server()


class Clock:
    now = 1000.0

    def __call__(self):
        return self.now


def test_redis_is_asked_once_a_second(database, server):
    create_job(server.url, "job", {}, shards=1)
    clock = Clock()
    jobs = ClusterJobs(server.url, database, clock)

    first = jobs.find("job")
    assert jobs.find("job") is first
    clock.now += 1
    second = jobs.find("job")

    assert (first.at, second.at) == (1000.0, 1001.0)
    assert [one.status["job"] for one in jobs.all()] == ["job"]


def test_the_last_answer_stands_while_redis_is_away(database, server):
    create_job(server.url, "job", {}, shards=1)
    clock = Clock()
    jobs = ClusterJobs(server.url, database, clock)
    jobs.find("job")
    clock.now += 60
    jobs._url = "redis://127.0.0.1:9"

    [old] = jobs.all()

    assert (old.at, old.status["status"]) == (1000.0, "running")
    assert old.away.startswith("no answer from redis://127.0.0.1:9")
    with pytest.raises(RedisAway):
        jobs.find("other")


def test_a_command_is_seen_at_once_and_written_down(database, server):
    create_job(server.url, "job", {}, shards=1)
    jobs = ClusterJobs(server.url, database, Clock())
    assert jobs.find("job").status["status"] == "running"

    jobs.command("pause", "job", "anna")

    found = jobs.find("job")
    assert (found.status["status"], found.confirmed) == ("paused", (0, 0))
    [row] = database.rows("SELECT who, what FROM audit")
    assert tuple(row) == ("anna", "asked to pause the cluster job job")
    with pytest.raises(StateError, match="cluster join"):
        jobs.command("restart", "job", "anna")


def test_a_job_that_is_gone_is_forgotten(database, server):
    create_job(server.url, "job", {}, shards=1)
    clock = Clock()
    jobs = ClusterJobs(server.url, database, clock)
    jobs.find("job")
    with closing(connect(server.url)) as client:
        client.flushall()
    clock.now += 1

    for name in ("job", "no/name"):
        with pytest.raises(LookupError):
            jobs.find(name)
    assert jobs.all() == []


def test_a_password_is_never_shown(database, caplog):
    jobs = ClusterJobs("redis://user:s3same@127.0.0.1:9/0", database)

    with pytest.raises(RedisAway, match="no answer from redis://") as caught:
        jobs.all()

    for text in (jobs.place, repr(jobs), str(caught.value), caplog.text):
        assert "s3same" not in text


@pytest.fixture
def silent():
    """A server that closes each connection when `release` is set, and counts them."""

    def close(_connection, _address):
        server.asked += 1
        assert server.release.wait(120)

    server = StreamServer(("127.0.0.1", 0), close)
    server.asked, server.release = 0, Event()
    server.start()
    yield server
    server.release.set()
    server.stop()


def test_while_redis_is_away_it_is_asked_once_a_second_in_all(database, silent):
    now = [1000.0]
    jobs = ClusterJobs(f"redis://127.0.0.1:{silent.server_port}", database, lambda: now[0])

    pages = [gevent.spawn(question) for question in (jobs.all, jobs.findings) * 5]
    with gevent.Timeout(120):
        while not silent.asked:
            gevent.sleep(0.01)
    silent.release.set()
    gevent.joinall(pages, timeout=120)
    assert all(isinstance(page.exception, RedisAway) for page in pages)
    first = silent.asked
    with pytest.raises(RedisAway, match="no answer from redis://"):
        jobs.find("job")
    assert silent.asked == first

    now[0] += 1
    with pytest.raises(RedisAway):
        jobs.find("job")

    assert silent.asked == 2 * first
