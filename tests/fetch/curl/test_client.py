"""What CurlFetch promises beyond the contract."""

import gc
import os
from pathlib import Path

import gevent
import pycurl
import pytest

from crawler import CurlFetch, FetchError, Request, StateError
from crawler.fetch import Limits, any_address
from crawler.testing import End, LoopbackSite, Reply, Wire, faults

from ...cpu_time import is_idle


def open_files():
    return len(list(Path("/proc/self/fd").iterdir()))


def wait_until(is_so):
    with gevent.Timeout(120):
        while not is_so():
            gevent.sleep(0.01)


def test_its_repr_shows_its_state(serve):
    site = serve({"/": "page", "/slow": faults.silence()})

    with CurlFetch(allow_address=any_address) as fetch:
        assert repr(fetch) == "<CurlFetch 0 in flight, 0 idle handles>"

        fetch(Request(site.url()))
        assert repr(fetch) == "<CurlFetch 0 in flight, 1 idle handles>"

        job = gevent.spawn(fetch, Request(site.url("/slow")))
        gevent.sleep(0.05)
        assert repr(fetch) == "<CurlFetch 1 in flight, 0 idle handles>"

        job.kill()
        assert repr(fetch) == "<CurlFetch 0 in flight, 0 idle handles>"


def test_it_knows_how_much_it_has_received_of_what_is_not_whole_yet(serve):
    size = 200_000
    half = Wire(faults.head(f"content-length: {size}") + b"x" * (size // 2), End.HANG)
    site = serve({"/": half, "/whole": b"x" * size})

    with CurlFetch(allow_address=any_address) as fetch:
        assert fetch.receiving() == 0
        jobs = [gevent.spawn(fetch, Request(site.url())) for _ in range(2)]
        with gevent.Timeout(120):
            while fetch.receiving() < size:
                gevent.sleep(0.01)
        fetch(Request(site.url("/whole")))
        assert fetch.receiving() < 4 * size

        gevent.killall(jobs)
        assert fetch.receiving() == 0


def test_closing_fails_the_transfers_in_flight_and_waiting(serve):
    site = serve({"/": faults.silence()})
    fetch = CurlFetch(max_connections=2, allow_address=any_address)
    jobs = [gevent.spawn(fetch, Request(site.url())) for _ in range(4)]
    gevent.sleep(0.05)

    fetch.close()
    gevent.joinall(jobs, timeout=120)

    assert [job.exception.kind for job in jobs] == ["network"] * 4
    assert "closed" in str(jobs[0].exception)


def test_it_works_again_after_closing(serve):
    site = serve({"/": "page"})
    fetch = CurlFetch(allow_address=any_address)

    for _ in range(3):
        assert fetch(Request(site.url())).body == b"page"
        fetch.close()
        fetch.close()


def test_closing_leaves_no_file_open(serve):
    site = serve({"/": Reply(body="page", delay=0.05)})
    before = open_files()

    with CurlFetch(allow_address=any_address) as fetch:
        gevent.joinall([gevent.spawn(fetch, Request(site.url())) for _ in range(20)])

    wait_until(lambda: open_files() <= before + 2)


def test_an_unclosed_client_is_collected(serve):
    site = serve({"/": "page"})

    def forget(times):
        for _ in range(times):
            CurlFetch(allow_address=any_address)(Request(site.url()))
        gc.collect()

    before = open_files()
    forget(40)

    wait_until(lambda: open_files() <= before + 4)


def test_many_cancelled_fetches_leave_no_object_behind(serve):
    site = serve({"/": faults.silence()})

    def cancel(times):
        jobs = [gevent.spawn(fetch, Request(site.url())) for _ in range(times)]
        wait_until(lambda: len(site.requests) == times)
        gevent.killall(jobs)
        site.requests.clear()

    def objects():
        gc.collect()
        return len(gc.get_objects())

    with CurlFetch(allow_address=any_address) as fetch:
        cancel(50)
        before = objects()
        for _ in range(4):
            cancel(50)

        wait_until(lambda: objects() - before < 200)


def test_waiting_for_a_connection_does_not_count_as_part_of_the_timeout(serve):
    site = serve({"/": Reply(body="page", delay=0.4)})

    with CurlFetch(max_connections=2, limits=Limits(total=2.0), allow_address=any_address) as fetch:
        jobs = [gevent.spawn(fetch, Request(site.url())) for _ in range(12)]
        gevent.joinall(jobs, raise_error=True)

    assert site.connections <= 2


def test_a_host_gets_no_more_connections_than_its_limit(serve):
    busy, other = (serve({"/": Reply(body="page", delay=0.1)}) for _ in range(2))

    with CurlFetch(
        max_host_connections=2, limits=Limits(total=100), allow_address=any_address
    ) as fetch:
        jobs = [
            gevent.spawn(fetch, Request(site.url())) for site in (busy, other) for _ in range(14)
        ]
        gevent.joinall(jobs, raise_error=True)

    assert (busy.connections, other.connections) == (2, 2)


def test_idle_connections_make_room_for_other_hosts(serve):
    site = serve({"/": "page"}, addresses=[f"127.0.0.{n}" for n in range(1, 21)])

    with CurlFetch(max_connections=4, allow_address=any_address) as fetch:
        for address in site.addresses * 2:
            assert fetch(Request(site.url(address=address))).body == b"page"


def closing_on_second(answer):
    """Answer the first request of each connection, and close it at the second without a reply."""
    served = set()

    def page(request):
        if site.requests[-1].peer in served:
            return Wire(End.CLOSE)
        served.add(site.requests[-1].peer)
        return answer

    site = LoopbackSite({"/": page})
    return site


def test_no_request_is_sent_twice_when_a_kept_connection_ends():
    with closing_on_second("page") as site, CurlFetch(allow_address=any_address) as fetch:
        fetch(Request(site.url()))
        with pytest.raises(FetchError) as caught:
            fetch(Request(site.url("/?second")))

    assert (caught.value.kind, "closed the connection" in str(caught.value)) == ("network", True)
    assert [hit.path for hit in site.requests] == ["/", "/?second"]


def test_another_attempt_uses_no_kept_connection(serve):
    site = serve({"/": "page"})

    with CurlFetch(allow_address=any_address) as fetch:
        for attempts in [(), ("network",), (), ("network", "network")]:
            assert fetch(Request(site.url(), attempts=attempts)).body == b"page"

    assert site.connections == 3


def test_a_post_is_never_sent_twice():
    with closing_on_second("page") as site, CurlFetch(allow_address=any_address) as fetch:
        for number in range(5):
            fetch(Request(site.url(), attempts=("on a new connection",)))
            fetch(Request(site.url(), "POST", body=str(number)))

    posts = [hit.body for hit in site.requests if hit.method == "POST"]
    assert posts == [b"0", b"1", b"2", b"3", b"4"]


def test_addresses_can_be_refused_when_connecting(serve):
    asked = []

    def allow(ip, port, request):
        asked.append((ip, port, request.url))
        return request.url.endswith("/open")

    site = serve({"/open": "open", "/closed": "closed"}, addresses=["127.0.0.1", "127.0.0.2"])
    with CurlFetch(allow_address=allow) as fetch:
        with pytest.raises(FetchError) as caught:
            fetch(Request(site.url("/closed")))
        opened = fetch(Request(site.url("/open", "127.0.0.2")))

    assert caught.value.kind == "blocked_address"
    assert opened.body == b"open"
    assert asked == [
        ("127.0.0.1", site.port, site.url("/closed")),
        ("127.0.0.2", site.port, site.url("/open", "127.0.0.2")),
    ]
    assert [hit.path for hit in site.requests] == ["/open"]


def test_a_name_is_refused_by_the_address_it_resolves_to(serve):
    site = serve({"/": "page"})

    with CurlFetch(allow_address=lambda *_: False) as fetch, pytest.raises(FetchError) as caught:
        fetch(Request(f"http://localhost:{site.port}/"))

    assert caught.value.kind == "blocked_address"


def test_idle_it_uses_no_cpu(serve):
    site = serve({"/": "page", "/slow": faults.silence()})

    with CurlFetch(allow_address=any_address) as fetch:
        fetch(Request(site.url()))
        job = gevent.spawn(fetch, Request(site.url("/slow")))
        gevent.sleep(0.1)
        idle = is_idle()
        job.kill()

    assert idle


def test_another_thread_cannot_use_it(serve):
    site = serve({"/": "page"})
    caught = []

    def use():
        try:
            fetch(Request(site.url()))
        except StateError as error:
            caught.append(error)

    with CurlFetch(allow_address=any_address) as fetch:
        fetch(Request(site.url()))
        gevent.get_hub().threadpool.apply(use)

    assert len(caught) == 1


def test_a_forked_child_leaves_the_connections_of_its_parent_alone(serve):
    site = serve({"/": "page"})

    with CurlFetch(allow_address=any_address) as fetch:
        fetch(Request(site.url()))
        child = gevent.os.fork()
        if not child:
            ours = False
            try:
                with gevent.Timeout(120):
                    ours = fetch(Request(site.url())).body == b"page"
                fetch.close()
            finally:
                os._exit(0 if ours else 1)
        _, status = gevent.os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 0

        assert fetch(Request(site.url())).body == b"page"
        assert site.connections <= 2


def test_unverified_tls_must_be_requested(serve):
    import gevent.ssl
    import trustme

    tls = gevent.ssl.SSLContext(gevent.ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("elsewhere.test").configure_cert(tls)
    site = serve({"/": "page"}, tls=tls)

    with CurlFetch(verify=False, allow_address=any_address) as fetch:
        assert fetch(Request(site.url())).body == b"page"


def test_early_replies_are_ignored(serve):
    early = b"HTTP/1.1 103 Early Hints\r\nlink: </style.css>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"
    site = serve({"/": Wire(early + faults.head("content-length: 2") + b"hi")})

    with CurlFetch(allow_address=any_address) as fetch:
        response = fetch(Request(site.url()))

    assert (response.status, response.body) == (200, b"hi")
    assert "link" not in response.headers


def test_it_needs_a_connection():
    with pytest.raises(ValueError, match="max_connections"):
        CurlFetch(max_connections=0)


@pytest.fixture
def known(serve, monkeypatch):
    """Fetch from the host *name*, *later* or now; return whether its address was cached."""
    debug, now = [], [0.0]
    monkeypatch.setattr("crawler.fetch.curl.client._ADDRESSES_LAST", 1)
    monkeypatch.setattr("crawler.fetch.curl.client.monotonic", lambda: now[0])
    url = serve({"/": "home"}).url("/")

    def known(name, *, later=False):
        if later:
            gevent.sleep(1.1)
            now[0] += 1.1
        debug.clear()
        fetch(Request(url.replace("127.0.0.1", name)))
        return any(b"was found in DNS cache" in text for text in debug)

    with CurlFetch(allow_address=any_address) as fetch:
        verbose = {pycurl.VERBOSE: 1, pycurl.DEBUGFUNCTION: lambda _, text: debug.append(text)}
        fetch._options = fetch._options | verbose | {pycurl.FORBID_REUSE: 1}
        yield known


def test_an_address_is_cached_for_a_while_and_then_resolved_again(known):
    assert [known("a.localhost"), known("a.localhost")] == [False, True]
    assert [known("a.localhost", later=True), known("a.localhost")] == [False, True]


def test_addresses_are_forgotten_without_a_further_request_for_them(known):
    known("a.localhost")
    known("b.localhost", later=True)
    assert not known("a.localhost")
