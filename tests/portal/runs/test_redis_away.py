"""How often a portal asks a Redis that does not answer."""

import gevent
import pytest
from gevent.event import Event
from gevent.server import StreamServer

from crawler.errors import RedisAway
from crawler.portal.runs.cluster_jobs import ClusterJobs


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
