"""A real server for the tests of a cluster: one for each process that runs tests, empty for each test."""

from contextlib import closing

import gevent
import pytest

from crawler.cluster.job_record import create_job
from crawler.cluster.redis import connect

from .joined import PAGES, stop_all
from .shard import shared_server
from .tree_site import tree_site


@pytest.fixture(autouse=True)
def deadline():
    """A deadlock is a red test, not a hung run."""
    with gevent.Timeout(120):
        yield
    stop_all()


@pytest.fixture
def server():
    """A server without keys."""
    with closing(connect(shared_server().url)) as client:
        client.flushall()
    return shared_server()


@pytest.fixture
def client(server):
    with closing(connect(server.url)) as client:
        yield client


@pytest.fixture
def site():
    with tree_site(PAGES) as site:
        yield site


@pytest.fixture
def ttl():
    """The seconds that a lease lasts: so many that nobody loses one, however busy the machine is."""
    return 600.0


@pytest.fixture
def record(server, ttl):
    return create_job(server.url, "job", {}, shards=4, ttl=ttl)
