from contextlib import ExitStack

import gevent
import pytest
from gevent import monkey

from crawler.fetch import AddressGuard, CurlFetch, Limits, SessionFetch
from crawler.testing import LoopbackSite

#: A guard that allows the addresses of a LoopbackSite.
LOOPBACK = AddressGuard(["127.0.0.0/8", "::1"])


@pytest.fixture(autouse=True)
def _patience():
    with gevent.Timeout(120):
        yield


@pytest.fixture
def stack():
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def serve(stack):
    """Start a LoopbackSite that ends with the test."""
    return lambda pages, **options: stack.enter_context(LoopbackSite(pages, **options))


@pytest.fixture(params=["curl", "session"])
def fetcher(request, stack):
    """Make a fetcher of either kind, with limits given by name."""
    if request.param == "session" and not monkey.is_module_patched("socket"):
        pytest.skip("requests blocks the hub unless sockets are patched")

    def make(ca_file=None, **limits):
        options = {"limits": Limits(**({"total": 100.0} | limits)), "allow_address": LOOPBACK}
        if request.param == "curl":
            return stack.enter_context(CurlFetch(ca_file=ca_file, **options))
        return SessionFetch(stack.enter_context(session(ca_file)), **options)

    return make


def session(ca_file=None):
    import requests

    session = requests.Session()
    session.trust_env = False
    session.verify = str(ca_file) if ca_file else True
    session.mount("http://", requests.adapters.HTTPAdapter(pool_maxsize=200))
    return session


@pytest.fixture
def fetch(fetcher):
    return fetcher()
