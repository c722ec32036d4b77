"""What every fetcher promises."""

import gzip
import os
import tracemalloc
import zlib
from pathlib import Path

import gevent
import pytest

from crawler import FetchError, Request
from crawler.data import BODY_PREFIX
from crawler.testing import End, Reply, Wire, faults


def echo(request):
    """Answer with the head and body of the request."""
    head = "".join(f"{name}: {value}\n" for name, value in request.headers.fields)
    return Reply(headers={"x-method": request.method}, body=head.encode() + b"\n" + request.body)


def failure(fetch, request):
    with pytest.raises(FetchError) as caught:
        fetch(request)
    return caught.value.kind


# responses


def test_a_response_has_url_status_headers_body_and_its_request(fetch, serve):
    site = serve({"/": "<h1>Grüße</h1>"})
    request = Request(site.url("/"))

    response = fetch(request)

    assert (response.url, response.status) == (request.url, 200)
    assert response.headers["Content-Type"] == "text/html; charset=utf-8"
    assert response.body == "<h1>Grüße</h1>".encode()
    assert response.request is request
    assert 0 < response.elapsed < 120


@pytest.mark.parametrize("status", [200, 201, 204, 304, 400, 404, 429, 500, 503])
def test_every_status_is_a_response(fetch, serve, status):
    site = serve({"/": Reply(status)})

    assert fetch(Request(site.url())).status == status


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_comes_back_as_it_is(fetch, serve, status):
    site = serve({"/": Reply(status, {"location": "/next"}, "moved"), "/next": "never asked"})

    response = fetch(Request(site.url()))

    assert (response.status, response.headers["location"]) == (status, "/next")
    assert response.body == b"moved"
    assert len(site.requests) == 1


def test_a_field_given_twice_keeps_both_values(fetch, serve):
    head = faults.head("set-cookie: a=1", "set-cookie: b=2", "content-length: 0")
    site = serve({"/": Wire(head)})

    assert fetch(Request(site.url())).headers.all("Set-Cookie") == ["a=1", "b=2"]


def test_an_empty_body_is_a_body(fetch, serve):
    site = serve({"/": b"", "/gzip": faults.coded(b"")})

    assert fetch(Request(site.url("/"))).body == b""
    assert fetch(Request(site.url("/gzip"))).body == b""


def test_chunks_are_joined_and_trailers_do_not_count_as_headers(fetch, serve):
    chunks = b"2\r\nhe\r\n3\r\nllo\r\n0\r\nx-late: 1\r\n\r\n"
    site = serve({"/": Wire(faults.head("transfer-encoding: chunked") + chunks)})

    response = fetch(Request(site.url()))

    assert response.body == b"hello"
    assert "x-late" not in response.headers


def test_a_body_without_a_length_ends_with_the_connection(fetch, serve):
    site = serve({"/": Wire(b"HTTP/1.0 200 OK\r\n\r\nhello", End.CLOSE)})

    assert fetch(Request(site.url())).body == b"hello"


def test_a_large_body_arrives_whole(fetch, serve):
    body = os.urandom(3_000_000)
    site = serve({"/": body})

    assert fetch(Request(site.url())).body == body


# requests


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PURGE"])
def test_any_method_carries_a_body(fetch, serve, method):
    site = serve({"/": echo})

    response = fetch(Request(site.url(), method, body=b"a\0b\r\n"))

    assert response.headers["x-method"] == method
    assert response.body.endswith(b"\n\na\0b\r\n")


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
def test_a_missing_body_is_sent_as_an_empty_one(fetch, serve, method):
    site = serve({"/": echo})

    fetch(Request(site.url(), method))

    assert site.requests[0].headers["content-length"] == "0"


def test_a_large_body_is_sent_without_asking_first(fetch, serve):
    site = serve({"/": Reply()})

    fetch(Request(site.url(), "POST", body=b"x" * 3_000_000))

    assert len(site.requests[0].body) == 3_000_000
    assert "expect" not in site.requests[0].headers
    assert "content-type" not in site.requests[0].headers


def test_head_returns_headers_without_a_body(fetch, serve):
    site = serve({"/": "a page"})

    response = fetch(Request(site.url(), "HEAD"))

    assert response.headers["content-length"] == "6"
    assert response.body == b""
    assert fetch(Request(site.url())).body == b"a page"


def test_head_with_a_body_is_a_bad_request(fetch, serve):
    site = serve({"/": "a page"})

    assert failure(fetch, Request(site.url(), "HEAD", body=b"x")) == "bad_request"


def test_headers_are_sent_as_given(fetch, serve):
    site = serve({"/": echo})

    fetch(Request(site.url(), headers={"X-Name": "Grüße", "X-Empty": "", "Accept": "text/html"}))

    sent = site.requests[0].headers
    assert sent["x-name"].encode("latin-1").decode() == "Grüße"
    assert sent["x-empty"] == ""
    assert sent.all("accept") == ["text/html"]


def test_nothing_of_a_request_leaks_into_the_next(fetch, serve):
    site = serve({"/": echo})
    first = fetch(Request(site.url())).body

    fetch(
        Request(
            site.url(),
            "POST",
            headers={"X-Secret": "1", "Content-Type": "text/plain", "User-Agent": "other"},
            cookies={"secret": "1"},
            body=b"secret",
            timeout=60,
        )
    )
    fetch(Request(site.url(), headers={"X-Secret": "1"}, cookies={"secret": "1"}))

    assert fetch(Request(site.url())).body == first


def test_the_user_agent_names_the_product(fetch, serve):
    site = serve({"/": echo})

    fetch(Request(site.url()))
    fetch(Request(site.url(), headers={"user-agent": "mine/1"}))

    assert site.requests[0].headers["user-agent"].startswith("crawler/")
    assert site.requests[1].headers.all("user-agent") == ["mine/1"]


def test_cookies_are_the_requests_own(fetch, serve):
    site = serve({"/": echo})

    fetch(Request(site.url(), cookies={"a": "1", "b": "two"}))
    fetch(Request(site.url()))

    assert site.requests[0].headers["cookie"] == "a=1; b=two"
    assert "cookie" not in site.requests[1].headers


@pytest.mark.parametrize(
    "url",
    [
        "ftp://127.0.0.1/",
        "file:///etc/passwd",
        "//127.0.0.1/",
        "127.0.0.1/",
        "http://",
        "http://127.0.0.1/a\r\nX-Injected: 1",
        "http://127.0.0.1/a\nb",
        "http://127.0.0.1/a\0b",
        "http://127.0.0.1/ü\nb",
        "http://127.0.0.1:99999/",
        "http://[::1/",
        "http://Grüße:x.example/",
    ],
)
def test_a_url_that_is_not_http_is_a_bad_request(fetch, url):
    assert failure(fetch, Request(url)) == "bad_request"


def test_a_proxy_of_another_scheme_is_a_bad_request_that_keeps_its_password(fetch, serve):
    with pytest.raises(FetchError) as caught:
        fetch(Request("http://127.0.0.1/", proxy="ftp://user:secret@127.0.0.1/"))

    assert caught.value.kind == "bad_request"
    assert "secret" not in str(caught.value)


# codings

PAGE = b"<p>" + b"a page that is worth compressing " * 200


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        ("gzip", gzip.compress(PAGE)),
        ("x-gzip", gzip.compress(PAGE)),
        ("GZIP", gzip.compress(PAGE)),
        ("gzip", gzip.compress(PAGE[:100]) + gzip.compress(PAGE[100:])),
        ("deflate", zlib.compress(PAGE)),
        ("deflate", zlib.compress(PAGE)[2:-4]),
        ("deflate, gzip", gzip.compress(zlib.compress(PAGE))),
        ("identity", PAGE),
        ("", PAGE),
    ],
)
def test_codings_are_decoded(fetch, serve, coding, body):
    site = serve({"/": faults.coded(body, coding)})

    assert fetch(Request(site.url())).body == PAGE


@pytest.mark.parametrize("name", ["Content-Encoding", "CONTENT-encoding", "cOnTeNt-EnCoDiNg"])
def test_codings_are_decoded_for_any_spelling_of_their_field(fetch, serve, name):
    site = serve({"/": Reply(headers={name: "gzip"}, body=gzip.compress(PAGE))})

    response = fetch(Request(site.url()))

    assert response.body == PAGE
    assert name in [given for given, _ in response.headers.fields]


def test_a_body_in_many_pieces_takes_no_more_memory_than_its_bytes(fetch, serve):
    pieces = b"2\r\nxx\r\n" * 20_000 + b"0\r\n\r\n"
    site = serve({"/": Wire(faults.head("transfer-encoding: chunked"), pieces)})

    tracemalloc.start()
    try:
        response = fetch(Request(site.url()))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert len(response.body) == 40_000
    assert peak < 700_000


LONG = b"".join(b"Disallow: /%d\n" % n for n in range(100_000))


@pytest.mark.parametrize(
    "reply",
    [
        Reply(body=LONG),
        faults.coded(gzip.compress(LONG)),
        Reply(headers={"content-encoding": "deflate"}, body=zlib.compress(LONG)),
        faults.gzip_bomb(2**21),
        faults.endless_body(),
    ],
    ids=["plain", "gzip", "deflate", "bomb", "endless"],
)
def test_of_a_body_the_start_can_be_asked_for(fetch, serve, reply):
    site = serve({"/": reply, "/next": "fine"})

    response = fetch(Request(site.url("/"), meta={BODY_PREFIX: 5000}))

    assert len(response.body) == 5000
    assert response.body == LONG[:5000] or len(set(response.body)) <= 2
    assert response.flags == {"truncated"}
    assert fetch(Request(site.url("/next"))).body == b"fine"


@pytest.mark.parametrize("reply", [Reply(body=b"short"), faults.coded(gzip.compress(b"short"))])
def test_a_body_shorter_than_the_start_that_was_asked_for_is_whole(fetch, serve, reply):
    site = serve({"/": reply})

    response = fetch(Request(site.url("/"), meta={BODY_PREFIX: 5000}))

    assert (response.body, response.flags) == (b"short", frozenset())


def test_a_body_that_ends_before_the_start_that_was_asked_for_is_truncated(fetch, serve):
    site = serve({"/": faults.truncated(), "/gzip": faults.truncated_gzip()})

    for path in ("/", "/gzip"):
        request = Request(site.url(path), meta={BODY_PREFIX: 500_000})
        assert failure(fetch, request) == "truncated"


def test_compression_is_requested(fetch, serve):
    site = serve({"/": PAGE}, gzip=True)

    response = fetch(Request(site.url()))

    assert response.headers["content-encoding"] == "gzip"
    assert response.body == PAGE


# connections


def test_connections_are_reused(fetch, serve):
    site = serve({"/": "a page"})

    for _ in range(20):
        fetch(Request(site.url()))

    assert (len(site.requests), site.connections) == (20, 1)


def test_two_hundred_fetches_at_once(fetch, serve):
    pages = {f"/{n}": Reply(body=f"page {n}", delay=0.05) for n in range(200)}
    site = serve(pages)

    jobs = [gevent.spawn(fetch, Request(site.url(path))) for path in pages]
    gevent.joinall(jobs, raise_error=True)

    assert [job.value.body for job in jobs] == [f"page {n}".encode() for n in range(200)]


def test_a_second_reply_is_not_mistaken_for_the_next_page(fetch, serve):
    two = faults.head("content-length: 5") + b"first" + faults.head("content-length: 4") + b"evil"
    site = serve({"/": Wire(two), "/next": "the next page"})

    assert fetch(Request(site.url())).body == b"first"
    assert [fetch(Request(site.url("/next"))).body for _ in range(3)] == [b"the next page"] * 3


def test_an_idle_connection_that_the_server_closed_is_replaced(fetch, serve):
    site = serve({"/": Wire(faults.head("content-length: 2") + b"hi", End.CLOSE)})

    for _ in range(5):
        assert fetch(Request(site.url())).body == b"hi"
        gevent.sleep(0.01)


# cancelling


def open_files():
    return len(list(Path("/proc/self/fd").iterdir()))


def wait_until(is_so):
    with gevent.Timeout(120):
        while not is_so():
            gevent.sleep(0.01)


def test_killing_a_greenlet_ends_its_fetch_and_leaves_nothing_open(fetch, serve):
    site = serve({"/": faults.silence(), "/fine": "fine", "/drip": faults.drip(every=0.05)})
    fetch(Request(site.url("/fine")))
    before = open_files()

    jobs = [gevent.spawn(fetch, Request(site.url(path))) for path in ["/", "/drip"] * 10]
    # urllib3 leaves a socket open that is killed while it connects.
    wait_until(lambda: len(site.requests) >= 1 + len(jobs))
    assert open_files() >= before + 20
    gevent.killall(jobs, timeout=120)

    wait_until(lambda: open_files() <= before + 2)
    assert fetch(Request(site.url("/fine"))).body == b"fine"


def test_a_timeout_around_a_fetch_ends_it(fetch, serve):
    site = serve({"/": faults.silence(), "/fine": "fine"})

    with pytest.raises(gevent.Timeout), gevent.Timeout(0.1):
        fetch(Request(site.url()))

    assert fetch(Request(site.url("/fine"))).body == b"fine"
