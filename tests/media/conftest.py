import gevent
import pytest

from crawler.testing import LoopbackSite, Reply

#: Settings that are as fast as a loopback site allows.
FAST = {
    "allow_private": True,
    "delay": 0,
    "per_host": 8,
    "retries": 2,
    "retries.wait": 0,
    "politeness.latency_factor": 0,
    "politeness.throttle": 0.01,
    "politeness.backoff": 0.01,
}


def names_in(directory):
    return sorted(path.name for path in directory.iterdir()) if directory.exists() else []


def binary(content, content_type="image/png"):
    return Reply(200, {"content-type": content_type}, content)


@pytest.fixture(autouse=True)
def _patience():
    """Let a deadlock fail the test instead of hanging the run."""
    with gevent.Timeout(500):
        yield


@pytest.fixture
def serve():
    started = []

    def serve(pages, **options):
        started.append(LoopbackSite(pages, **options).start())
        return started[-1]

    yield serve
    for site in started:
        site.stop()
