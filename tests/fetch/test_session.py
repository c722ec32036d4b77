"""What SessionFetch promises beyond the contract."""

import gzip

import pytest
from gevent import monkey

from crawler import FetchError, Request, SessionFetch
from crawler.fetch import any_address
from crawler.testing import Reply, Wire, faults

requests = pytest.importorskip("requests")
pytestmark = pytest.mark.skipif(
    not monkey.is_module_patched("socket"), reason="requests blocks the hub unless patched"
)


@pytest.fixture
def session():
    with requests.Session() as session:
        session.trust_env = False
        yield session


def test_the_session_keeps_its_own_behaviour(session, serve):
    session.headers["User-Agent"] = "mine/1"
    session.auth = ("user", "secret")
    session.cookies.set("kept", "1")
    site = serve({"/": "page"})

    SessionFetch(session, allow_address=any_address)(Request(site.url()))

    sent = site.requests[0].headers
    assert sent["user-agent"] == "mine/1"
    assert sent["authorization"].startswith("Basic ")
    assert sent["cookie"] == "kept=1"


def test_hooks_of_the_session_see_the_decoded_body(session, serve):
    seen = []
    session.hooks["response"].append(lambda response, **_: seen.append(response.content))
    site = serve({"/": faults.coded(gzip.compress(b"page"))})

    response = SessionFetch(session, allow_address=any_address)(Request(site.url()))

    assert seen == [response.body] == [b"page"]


def test_a_session_may_answer_a_challenge(session, serve):
    def guarded(request):
        if "Authorization" in request.headers:
            return "come in"
        return Reply(401, {"www-authenticate": 'Digest realm="r", nonce="n", qop="auth"'}, "who?")

    session.auth = requests.auth.HTTPDigestAuth("user", "secret")
    site = serve({"/": guarded})

    assert SessionFetch(session, allow_address=any_address)(Request(site.url())).body == b"come in"


def test_an_early_reply_is_not_mistaken_for_the_final_one(session, serve):
    early = b"HTTP/1.1 103 Early Hints\r\n\r\n"
    site = serve({"/": Wire(early + faults.head("content-length: 2") + b"hi"), "/next": "next"})
    fetch = SessionFetch(session, allow_address=any_address)

    with pytest.raises(FetchError) as caught:
        fetch(Request(site.url()))

    assert caught.value.kind == "protocol"
    assert fetch(Request(site.url("/next"))).body == b"next"


def test_importing_the_fetchers_needs_no_requests():
    import subprocess
    import sys

    check = "import sys, crawler; sys.exit('requests' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0
