import gzip
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.data import Request, Response
from crawler.errors import FetchError
from crawler.feed import FeedError, WarcSite, WarcWriter
from crawler.feed.warc import reader
from crawler.headers import Headers
from crawler.module import Downloader
from crawler.testing import LoopbackSite, Reply, Site

from .archives import PAGE, URL, page, records, write


def test_a_crawl_can_be_recorded_and_replayed_without_the_site(path):
    pages = {
        "/": Reply(200, {"content-encoding": "gzip"}, gzip.compress(b"<p>home</p>")),
        "/gone": Reply(404, body="gone"),
        "/moved": Reply(301, {"Location": "/"}),
    }
    with LoopbackSite(pages) as live, WarcWriter(path) as writer:
        from crawler.fetch import CurlFetch, any_address

        fetch = Downloader(writer.around(CurlFetch(allow_address=any_address)))
        requests = [Request(live.url(path)) for path in pages]
        recorded = [fetch.download(request) for request in requests]

    with WarcSite(path) as site:
        replayed = [Downloader(site).download(request) for request in requests]

    for before, after in zip(recorded, replayed, strict=True):
        assert (after.url, after.status, after.body) == (before.url, before.status, before.body)
        assert after.request is before.request
        assert dict(after.headers) | dict(before.headers) == dict(after.headers)
    assert replayed[0].headers["content-encoding"] == "gzip"
    assert replayed[0].body == b"<p>home</p>"


def test_what_was_not_archived_fails_by_that_name(path):
    write(path, PAGE)
    site = WarcSite(path)

    for request in (
        Request(URL + "other"),
        Request(URL, "POST"),
        Request(URL, "GET", body=b"x"),
        Request("mailto:nobody"),
    ):
        with pytest.raises(FetchError, match=r"not_archived: .* is not in .*archive") as raised:
            site(request)
        assert raised.value.kind == "not_archived"
    site.close()


def test_requests_are_told_apart_by_method_and_body(path):
    asked = [
        Request(URL),
        Request(URL, "HEAD"),
        Request(URL, "POST", body=b"a"),
        Request(URL, "POST", body=b"b"),
        Request(URL, "POST"),
    ]
    write(path, *(Response(URL, 200, {}, str(n), r) for n, r in enumerate(asked)))

    with WarcSite(path) as site:
        assert [site(request).body for request in reversed(asked)] == [b"4", b"3", b"2", b"1", b"0"]


def test_any_spelling_of_a_url_finds_its_page(path):
    write(path, page("/a%7Eb?q=%C3%A9", b"found"))

    with WarcSite(path) as site:
        for url in ("HTTP://SITE.test:80/a~b?q=é", "http://me:pw@site.test/./a~b?q=%c3%a9#part"):
            assert site(Request(url)).body == b"found"


def test_asked_again_it_answers_as_the_server_did(path):
    write(path, page(body=b"busy").replace(status=503), page(body=b"first"), page(body=b"second"))

    with WarcSite(path) as site:
        answers = [site(Request(URL)) for _ in range(4)]
        assert len(site) == 3
    assert [(r.status, r.body) for r in answers] == [
        (503, b"busy"),
        (200, b"first"),
        (200, b"second"),
        (200, b"second"),
    ]


def test_header_fields_keep_their_bytes(path):
    write(
        path,
        page(**{"X-Latin": "caf\xe9", "X-Utf8": "caf\xc3\xa9", "X-Empty": "", "X-Colon": "a:b"}),
    )

    with WarcSite(path) as site:
        headers = site(Request(URL)).headers
    assert headers["x-latin"] == "caf\xe9"
    assert headers["x-utf8"] == "caf\xc3\xa9"
    assert headers["x-empty"] == ""
    assert headers["x-colon"] == "a:b"


def test_an_archive_torn_at_any_byte_gives_what_is_whole(path):
    write(path, page("/1", b"one"))
    whole = path.stat().st_size
    write(path, page("/2", b"two"), append=True)
    content = path.read_bytes()
    ends = [record.end for record in reader.records(content)]

    for end in range(whole, len(content) + 1):
        path.write_bytes(content[:end])
        with WarcSite(path) as site:
            before = max(one for one in ends if one <= end)
            assert site.torn == (None if before == end else before)
            assert site(Request(URL + "1")).body == b"one"
            if len(site) == 2:
                assert site(Request(URL + "2")).body == b"two"


def test_what_is_no_archive_is_an_error(path):
    path.write_bytes(b"not an archive\n" * 10)

    with pytest.raises(FeedError, match="cannot be read: damaged at byte 0: not a WARC record"):
        WarcSite(path)


def foreign(path, *entries):
    """Write an archive as other programs do, of (url, type, header fields, payload)."""
    with path.open("wb") as file:
        for url, kind, fields, payload in entries:
            lines = "".join(f"{name}: {value}\r\n" for name, value in fields)
            block = f"HTTP/1.1 200 OK\r\n{lines}\r\n".encode() + payload
            named = {
                "Target-URI": url,
                "Type": kind,
                "Refers-To-Target-URI": dict(fields).get("Of"),
            }
            head = "".join(f"WARC-{name}: {value}\r\n" for name, value in named.items() if value)
            record = f"WARC/1.0\r\n{head}Content-Length: {len(block)}\r\n\r\n".encode() + block
            record += b"\r\n\r\n"
            file.write(gzip.compress(record) if path.suffix == ".gz" else record)


def test_archives_of_others_are_decoded(path):
    brotli = pytest.importorskip("brotli")
    chunked = [("Transfer-Encoding", "chunked")]
    packed = gzip.compress(b"text")
    in_chunks = f"{len(packed):x}\r\n".encode() + packed + b"\r\n0\r\n\r\n"
    foreign(
        path,
        (URL + "plain", "response", [("A", "b")], b"text"),
        (URL + "gzip", "response", [("Content-Encoding", "gzip")], gzip.compress(b"text")),
        (URL + "br", "response", [("Content-Encoding", "br")], brotli.compress(b"text")),
        (URL + "chunked", "response", chunked, b"2\r\nte\r\n2;x=y\r\nxt\r\n0\r\n\r\n"),
        (URL + "joined", "response", chunked, b"text"),
        (URL + "deflate", "response", [("Content-Encoding", "deflate")], zlib.compress(b"text")),
        (URL + "both", "response", [*chunked, ("Content-Encoding", "gzip")], in_chunks),
        (URL + "decoded", "response", [("Content-Encoding", "gzip")], b"text"),
        (f"<{URL}wget>", "response", [], b"text"),
    )

    with WarcSite(path) as site:
        assert len(site) == 9
        for _, page, *_ in records(path):
            assert site(Request(page)).body == b"text", page


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br"])
@pytest.mark.parametrize(("damage", "kind"), [("cut", "truncated"), ("garbled", "bad_encoding")])
def test_a_body_that_cannot_be_decoded_is_an_error(path, coding, damage, kind):
    brotli = pytest.importorskip("brotli")
    pack = {"gzip": gzip.compress, "deflate": zlib.compress, "br": brotli.compress}[coding]
    packed = pack(bytes(range(256)) * 40)
    broken = packed[:-20] if damage == "cut" else packed[:10] + b"\x07" * 200
    foreign(path, (URL, "response", [("Content-Encoding", coding)], broken))

    with WarcSite(path) as site, pytest.raises(FetchError) as raised:
        site(Request(URL))
    assert raised.value.kind == kind


def test_a_page_that_had_not_changed_is_what_it_was(path):
    foreign(
        path,
        (URL, "response", [], b"text"),
        (URL + "same", "revisit", [("Of", URL)], b""),
        (URL + "lost", "revisit", [("Of", URL + "nowhere")], b""),
    )

    with WarcSite(path) as site:
        assert site(Request(URL + "same")).body == b"text"
        with pytest.raises(FetchError, match="not_archived"):
            site(Request(URL + "lost"))


def test_a_bomb_in_an_archive_is_too_large(path):
    bomb = gzip.compress(b"\0" * 5_000_000)
    foreign(path, (URL, "response", [("Content-Encoding", "gzip")], bomb))

    with WarcSite(path, max_body=1_000_000) as site, pytest.raises(FetchError, match="too_large"):
        site(Request(URL))


def test_a_site_of_pages_and_its_archive_are_the_same_site(path):
    live = Site({"/": "<a href='/a'>a</a>", "/a": "A"})
    with WarcWriter(path) as writer:
        record = writer.around(live)
        for url in ("/", "/a", "/missing"):
            record(Request(live.url(url)))

    with WarcSite(path) as site:
        assert repr(site) == f"<WarcSite {path}, 3 responses>"
        assert [site(Request(live.url(u))).status for u in ("/", "/a", "/missing")] == [
            200,
            200,
            404,
        ]


header_values = st.text(st.characters(max_codepoint=255), max_size=20)


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(st.binary(max_size=200), st.integers(100, 599), st.lists(header_values)),
        max_size=6,
    )
)
def test_bodies_in_are_bodies_out(tmp_path_factory, exchanges):
    path = tmp_path_factory.mktemp("warc") / "a.warc.gz"
    write(
        path,
        *(
            Response(f"{URL}{n}", status, Headers([("X-A", v) for v in values]), body)
            for n, (body, status, values) in enumerate(exchanges)
        ),
    )

    with WarcSite(path) as site:
        for n, (body, status, values) in enumerate(exchanges):
            response = site(Request(f"{URL}{n}"))
            assert (response.status, response.body) == (status, body)
            assert len(response.headers.all("x-a")) == len(values)


@given(st.data())
def test_a_damaged_archive_is_an_error_of_ours_and_no_other(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("warc") / data.draw(st.sampled_from(["a.warc", "a.warc.gz"]))
    write(path, page("/1", b"one" * 9), page("/2", b"two" * 9, **{"content-encoding": "br"}))
    content = bytearray(path.read_bytes())
    damage = st.tuples(st.integers(0, 5000), st.integers(0, 255))
    for place, byte in data.draw(st.lists(damage, min_size=1, max_size=4)):
        content[place % len(content)] = byte
    path.write_bytes(content)

    try:
        with WarcSite(path) as site:
            for name in ("1", "2"):
                assert site(Request(URL + name)).status >= 0
    except (FeedError, FetchError):
        pass
