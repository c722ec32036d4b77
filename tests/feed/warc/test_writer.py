"""Exchanges archived, and read by warcio and by our own reader."""

import gzip
import zlib

import pytest

from crawler.data import Request, Response, SavedBody
from crawler.errors import StateError
from crawler.feed import FeedError, WarcSite, WarcWriter
from crawler.headers import Headers

from .archives import PAGE, URL, answers, archiveiterator, page, records, write

checker = pytest.importorskip("warcio.checker")


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


def test_a_body_in_a_file_is_marked_as_left_out(path):
    reply = Response(URL, 200, saved=SavedBody("files/a.png", 3, "abc"))

    write(path, reply)

    with path.open("rb") as file:
        *_, last = archiveiterator.ArchiveIterator(file)
        assert last.rec_headers["WARC-Truncated"] == "length"


def test_it_passes_the_check_of_warcio(path, naughty, capsys):
    bodies = [text.encode("utf-8", "replace")[:1000] for text in naughty]
    write(path, *(page(f"/{n}", body, x=str(body)) for n, body in enumerate(bodies)))

    checked = checker.Checker(type("Args", (), {"inputs": [str(path)], "verbose": False})())
    checked.process_all()

    assert checked.exit_value == 0


# -- going on --------------------------------------------------------------------------------


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
        write(path, page("/3", b"three"), append=True)
        assert answers(path) == [URL + "1", URL + "3"]
    for end in range(position, len(content), 10):  # what is behind the position is not read
        path.write_bytes(content[:end])
        write(path, page("/2", b"again"), position=position)
        assert answers(path) == [URL + "1", URL + "2"]


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
