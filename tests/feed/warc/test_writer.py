"""Exchanges archived, read by another's tool and by our own."""

import gzip
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.data import Headers, Request, Response
from crawler.errors import FetchError, StateError
from crawler.feed import FeedError, WarcSite, WarcWriter
from crawler.feed.warc import reader
from crawler.module import Downloader
from crawler.testing import LoopbackSite, Reply, Site

archiveiterator = pytest.importorskip("warcio.archiveiterator")
checker = pytest.importorskip("warcio.checker")

URL = "http://site.test/"
PAGE = Response(URL, 200, Headers([("Content-Type", "text/html")]), b"<p>hi</p>")


@pytest.fixture(params=["archive.warc.gz", "archive.warc"])
def path(request, tmp_path):
    return tmp_path / request.param


def write(path, *responses, **options):
    with WarcWriter(path, **options) as writer:
        for response in responses:
            writer(response)
    return writer


def records(path):
    """Read as warcio does: type, URL, first line, header fields and body of each record."""
    found = []
    with path.open("rb") as file:
        for record in archiveiterator.ArchiveIterator(file, check_digests="raise"):
            http = record.http_headers
            head = (f"{http.protocol} {http.statusline}", http.headers) if http else ("", [])
            uri = record.rec_headers.get_header("WARC-Target-URI")
            found.append((record.rec_type, uri, *head, record.raw_stream.read()))
    return found


def answers(path):
    found = [record.fields for record in reader.records(path.read_bytes())]
    return [fields["warc-target-uri"] for fields in found if fields["warc-type"] == "response"]


def page(path="/", body=b"", **fields):
    return Response(URL.rstrip("/") + path, 200, Headers(fields), body)


# -- writing ----------------------------------------------------------------------------------


def test_an_archive_holds_what_was_asked_and_what_was_answered(path):
    request = Request("http://site.test/a?b=c#d", "POST", {"X-A": "1"}, b"x=1")
    reply = Response(request.url, 201, Headers([("X-B", "2"), ("X-B", "3")]), b"made", request)

    writer = write(path, reply)

    info, asked, answered = records(path)
    assert info[0] == "warcinfo"
    assert b"software: crawler/" in info[-1]
    assert asked == (
        "request",
        "http://site.test/a?b=c",
        "POST /a?b=c HTTP/1.1",
        [("Host", "site.test"), ("X-A", "1"), ("Content-Length", "3")],
        b"x=1",
    )
    assert answered == (
        "response",
        "http://site.test/a?b=c",
        "HTTP/1.1 201 Created",
        [("X-B", "2"), ("X-B", "3"), ("Content-Length", "4")],
        b"made",
    )
    assert writer.written == 1


def test_the_two_records_of_an_exchange_name_each_other(path):
    write(path, PAGE)

    with path.open("rb") as file:
        _, asked, answered = (r.rec_headers for r in archiveiterator.ArchiveIterator(file))
    for one, other in ((asked, answered), (answered, asked)):
        assert one["WARC-Concurrent-To"] == other["WARC-Record-ID"]
        assert one["WARC-Date"].endswith("Z")


def test_its_name_says_whether_an_archive_is_packed(tmp_path):
    for name in ("a.warc", "a.warc.gz"):
        write(tmp_path / name, PAGE)

    assert (tmp_path / "a.warc").read_bytes().startswith(b"WARC/1.1\r\n")
    assert (tmp_path / "a.warc.gz").read_bytes().startswith(b"\x1f\x8b")


@pytest.mark.parametrize("name", ["a", "v.zip", "a.gz", "a.warc.zip", "warc"])
def test_a_name_that_does_not_say_so_is_refused_before_anything_is_written(tmp_path, name):
    with pytest.raises(ValueError, match=r"end it in \.warc or \.warc\.gz"):
        WarcWriter(tmp_path / name)

    assert list(tmp_path.iterdir()) == []


def test_every_record_is_a_gzip_stream_of_its_own(tmp_path):
    path = tmp_path / "a.warc.gz"
    write(path, PAGE, PAGE)

    content, streams = path.read_bytes(), []
    while content:
        stream = zlib.decompressobj(wbits=31)
        streams.append(stream.decompress(content))
        content = stream.unused_data
    assert len(streams) == 5
    assert all(s.startswith(b"WARC/1.1\r\n") and s.endswith(b"\r\n\r\n") for s in streams)
    assert gzip.decompress(path.read_bytes()) == b"".join(streams)


def test_a_decoded_body_is_described_as_it_is_kept(path):
    headers = Headers(
        [("content-encoding", "gzip"), ("Content-Length", "42"), ("Transfer-Encoding", "chunked")]
    )

    write(path, Response(URL, 200, headers, b"decoded"))

    *_, (_, _, _, fields, body) = records(path)
    assert fields == [
        ("X-Orig-content-encoding", "gzip"),
        ("X-Orig-Content-Length", "42"),
        ("X-Orig-Transfer-Encoding", "chunked"),
        ("Content-Length", "7"),
    ]
    assert body == b"decoded"


def test_secrets_stay_at_home(path):
    request = Request(
        "http://user:hunter2@site.test/",
        headers={"authorization": "Basic hunter2", "Cookie": "hunter2", "X-A": "1"},
        cookies={"session": "hunter2"},
    )

    write(path, Response(request.url, 200, request=request))

    content = path.read_bytes()
    plain = content if path.suffix == ".warc" else gzip.decompress(content)
    assert b"X-A: 1" in plain
    assert b"hunter2" not in plain


INJECTION = "x\r\n\r\nWARC/1.1\r\nWARC-Type: response\r\nContent-Length: 3\r\n\r\nbad\r\n\r\n"


@pytest.mark.parametrize(
    "response",
    [
        Response(URL, 200, Headers([("X-A", INJECTION)]), b"good"),
        Response(URL, 200, Headers([(INJECTION, "a")]), b"good"),
        Response(URL, 200, Headers([("X-A", "a\nX-Fake: 1\0\r")]), b"good"),
        Response(URL, 200, Headers(), INJECTION.encode()),
        Response("http://site.test/\r\nX-Fake: 1", 200, Headers(), b"good"),
        Response(URL, 200, Headers([("Content-Length", "1\r\nX: 2")]), b"good"),
    ],
    ids=["value", "name", "line breaks", "body", "url", "length"],
)
def test_nothing_from_the_wire_starts_a_record_or_a_line(path, response):
    write(path, response, PAGE)

    found = records(path)
    assert [kind for kind, *_ in found] == [
        "warcinfo",
        "request",
        "response",
        "request",
        "response",
    ]
    assert found[2][-1] == response.body
    names = {name for *_, fields, _ in found for name, _ in fields}
    assert not names & {"X-Fake", "WARC-Type", "X"}


def test_a_cut_body_is_marked(path):
    write(path, Response(URL, 200, Headers(), b"half", flags=frozenset({"truncated"})))

    with WarcSite(path) as site:
        assert site(Request(URL)).flags == {"truncated"}


def test_it_passes_the_check_of_warcio(path, naughty, capsys):
    bodies = [text.encode("utf-8", "replace")[:1000] for text in naughty]
    write(path, *(page(f"/{n}", body, x=str(body)) for n, body in enumerate(bodies)))

    checked = checker.Checker(type("Args", (), {"inputs": [str(path)], "verbose": False})())
    checked.process_all()

    assert checked.exit_value == 0


# -- going on ---------------------------------------------------------------------------------


def test_an_archive_can_be_continued(path):
    write(path, page("/1"))
    write(path, page("/2"), append=True)

    assert [kind for kind, *_ in records(path)].count("warcinfo") == 1
    with WarcSite(path) as site:
        assert len(site) == 2


def test_a_new_archive_replaces_the_old(path):
    write(path, page("/1"))
    write(path, page("/2"))

    with WarcSite(path) as site:
        assert len(site) == 1


def test_torn_at_any_byte_it_goes_on_without_a_torn_or_double_record(path):
    with WarcWriter(path) as writer:
        writer(page("/1", b"one"))
        position = writer.position()
        writer(page("/2", b"two"))
    content = path.read_bytes()

    for end in range(position, len(content)):
        path.write_bytes(content[:end])
        write(path, page("/2", b"again"), position=position)
        assert answers(path) == [URL + "1", URL + "2"]

        path.write_bytes(content[:end])
        write(path, page("/3", b"three"), append=True)
        assert answers(path) == [URL + "1", URL + "3"]


def test_torn_in_its_first_record_it_starts_anew(path):
    write(path, PAGE)
    path.write_bytes(path.read_bytes()[:20])

    write(path, PAGE, append=True)

    assert [kind for kind, *_ in records(path)] == ["warcinfo", "request", "response"]


def test_a_file_that_is_no_archive_is_left_alone(path):
    path.write_bytes(b"dear to its owner\r\n\r\n")

    with pytest.raises(FeedError, match=r"archive.warc.* cannot be continued: damaged at byte 0"):
        WarcWriter(path, append=True)
    assert path.read_bytes() == b"dear to its owner\r\n\r\n"


def test_a_damaged_record_is_not_taken_for_the_last(tmp_path):
    path = tmp_path / "a.warc"
    write(path, page("/1", b"one"), page("/2", b"two"))
    damaged = path.read_bytes().replace(b"\r\nContent-Length: 3\r\n\r\none", b"\r\nX: 3\r\none")
    path.write_bytes(damaged)

    for use in (WarcSite, lambda path: WarcWriter(path, append=True)):
        with pytest.raises(FeedError, match=r"damaged at byte \d+: a record without an end"):
            use(path)
    assert path.read_bytes() == damaged


def test_an_archive_shorter_than_its_position_is_an_error(path):
    with pytest.raises(FeedError, match="ends after 0 bytes, but 5 were recorded"):
        WarcWriter(path, position=5)


def test_a_closed_writer_says_so(path):
    writer = write(path, PAGE)
    writer.close()

    with pytest.raises(StateError, match="is closed"):
        writer(PAGE)


# -- reading ----------------------------------------------------------------------------------


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
    write(path, page("/1", b"one" * 50))
    whole = path.stat().st_size
    write(path, page("/2", b"two" * 50), append=True)
    content = path.read_bytes()
    ends = [record.end for record in reader.records(content)]

    for end in range(whole, len(content) + 1):
        path.write_bytes(content[:end])
        with WarcSite(path) as site:
            before = max(one for one in ends if one <= end)
            assert site.torn == (None if before == end else before)
            assert site(Request(URL + "1")).body == b"one" * 50
            if len(site) == 2:
                assert site(Request(URL + "2")).body == b"two" * 50


def test_what_is_no_archive_is_an_error(path):
    path.write_bytes(b"not an archive\n" * 10)

    with pytest.raises(FeedError, match="cannot be read: damaged at byte 0: not a WARC record"):
        WarcSite(path)


def foreign(path, *entries):
    """Write an archive of another's making: (url, type, header fields, payload)."""
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


@settings(max_examples=60, deadline=None)
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


@settings(max_examples=200, deadline=None)
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
