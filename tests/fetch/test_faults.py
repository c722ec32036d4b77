"""The kind of each fault of a server."""

import gzip
import socket
import time

import gevent
import pytest

from crawler import CurlFetch, FetchError, Request
from crawler.fetch import any_address
from crawler.testing import End, Reply, Wire, faults

from .fault_kinds import FAULTS


def failure(fetch, url, **options):
    with pytest.raises(FetchError) as caught:
        fetch(Request(url, **options))
    return caught.value.kind


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_has_one_kind(fetcher, serve, name):
    page, kind = FAULTS[name]
    site = serve({"/": page, "/next": "fine"})
    fetch = fetcher(body=100_000, headers=50_000)

    assert failure(fetch, site.url()) == kind
    assert fetch(Request(site.url("/next"))).body == b"fine"


def test_a_chunk_without_a_size_is_never_a_whole_page(fetch, serve):
    site = serve({"/": faults.broken_chunks()})

    assert failure(fetch, site.url()) in {"protocol", "truncated"}


def test_every_cut_of_a_body_is_an_error(fetch, serve):
    head, body = faults.head("content-length: 30"), b"x" * 30
    site = serve({f"/{n}": Wire(head + body[:n], End.CLOSE) for n in range(30)})

    assert {failure(fetch, site.url(f"/{n}")) for n in range(30)} == {"truncated"}


def test_every_cut_of_a_chunked_body_is_an_error(fetch, serve):
    head, body = faults.head("transfer-encoding: chunked"), b"5\r\nhello\r\n3\r\nyou\r\n0\r\n"
    pages = {f"/{n}": Wire(head + body[:n], End.CLOSE) for n in range(len(body) - 2)}
    site = serve(pages)

    assert {failure(fetch, site.url(path)) for path in pages} <= {"truncated", "protocol"}


def test_every_cut_of_a_gzip_stream_is_an_error(fetch, serve):
    body = gzip.compress(b"<p>hello</p>")
    pages = {f"/{n}": faults.coded(body[:n]) for n in range(1, len(body))}
    site = serve(pages)

    assert {failure(fetch, site.url(path)) for path in pages} == {"truncated"}


def test_every_cut_of_a_head_is_an_error(serve):
    whole = faults.head("content-length: 0")
    pages = {f"/{n}": Wire(whole[:n], End.CLOSE) for n in range(len(whole) - 2)}
    site = serve(pages)

    with CurlFetch(allow_address=any_address) as fetch:
        kinds = {failure(fetch, site.url(path)) for path in pages}

    assert kinds <= {"network", "truncated", "protocol"}


def test_limits_are_inclusive(fetcher, serve):
    body = b"x" * 100_000
    site = serve({"/": body, "/gzip": faults.coded(gzip.compress(body))})
    fetch = fetcher(body=100_000)

    assert fetch(Request(site.url("/"))).body == body
    assert fetch(Request(site.url("/gzip"))).body == body


@pytest.mark.parametrize(
    "fault", [faults.silence(), faults.drip(every=0.05), faults.drip_headers(0.05)]
)
def test_the_total_time_is_a_deadline(fetcher, serve, fault):
    site = serve({"/": fault})
    began = time.monotonic()

    assert failure(fetcher(total=0.4), site.url()) == "timeout"
    assert time.monotonic() - began < 20


def test_a_request_has_its_own_deadline(fetcher, serve):
    site = serve({"/": Reply(body="late", delay=0.6)})
    fetch = fetcher(total=0.3)

    assert failure(fetch, site.url()) == "timeout"
    assert fetch(Request(site.url(), timeout=60)).body == b"late"
    assert failure(fetch, site.url()) == "timeout"


def test_a_server_that_stalls_fails_before_the_deadline(fetcher, serve):
    site = serve({"/": faults.silence()})
    began = time.monotonic()

    assert failure(fetcher(total=100, stall=1), site.url()) == "timeout"
    assert time.monotonic() - began < 90


def test_a_closed_port_is_a_connect_failure(fetch):
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]

    assert failure(fetch, f"http://127.0.0.1:{port}/") == "connect"


def test_a_name_that_does_not_exist_is_a_dns_failure(fetch):
    assert failure(fetch, "http://no-such-host.invalid/") == "dns"


def test_a_faulty_site_does_not_delay_a_healthy_one(fetcher, serve):
    site = serve({"/sick": faults.silence(), "/fine": "fine"})
    fetch = fetcher()
    sick = [gevent.spawn(fetch, Request(site.url("/sick"))) for _ in range(50)]
    gevent.sleep(0)

    for _ in range(20):
        assert fetch(Request(site.url("/fine"))).body == b"fine"

    assert not any(job.dead for job in sick)
    gevent.killall(sick)
