"""Archives that were damaged, or made to do harm: an error or a count, little memory, linear time."""

import base64
import gzip
import hashlib
import resource
import tracemalloc
import zlib

import pytest

from crawler import Request, Spider, crawl
from crawler.errors import FetchError
from crawler.feed import FeedError, WarcSite
from crawler.feed.warc import reader
from crawler.feed.warc.replay import OFFLINE

from ..cli.conftest import crawler
from ..cpu_time import costs_at_most, grows_linearly

URL = "http://site.test/"
PAGE = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<title>fine</title>"
MB = 10**6


def record(block=PAGE, url=URL, kind="response", length=None, **fields):
    """Return one record; a field that is None is left out."""
    known = {"type": kind, "target_uri": url} | fields
    lines = [f"WARC-{n.replace('_', '-')}: {v}" for n, v in known.items() if v is not None]
    lines.append(f"Content-Length: {len(block) if length is None else length}")
    return "\r\n".join(["WARC/1.1", *lines, "", ""]).encode("latin-1") + block + b"\r\n\r\n"


GOOD = record(url=URL + "good")


def packed(*records):
    return b"".join(map(gzip.compress, records))


@pytest.fixture(params=["plain", "packed"])
def archive(request, tmp_path):
    """Write records to an archive, plain or each gzipped, and open it."""
    opened = []

    def archive(*records, **options):
        path = tmp_path / ("a.warc" if request.param == "plain" else "a.warc.gz")
        path.write_bytes(b"".join(records) if request.param == "plain" else packed(*records))
        opened.append(WarcSite(path, **options))
        return opened[-1]

    yield archive
    for site in opened:
        site.close()


@pytest.fixture
def open_bytes(tmp_path):
    opened = []

    def open_bytes(content, **options):
        path = tmp_path / "a.warc.gz"
        path.write_bytes(content)
        opened.append(WarcSite(path, **options))
        return opened[-1]

    yield open_bytes
    for site in opened:
        site.close()


def title(site, path):
    return site(Request(URL + path)).body


def answer(site, url):
    try:
        return str(site(Request(url)).status)
    except FetchError as error:
        return error.kind


def memory_of(function):
    """Return the most bytes that were allocated at a time while *function* ran."""
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


# -- records that are left out, and counted -------------------------------------------------------

WRONG = f"sha1:{base64.b32encode(hashlib.sha1(b'other').digest()).decode()}"
LEFT_OUT = {
    "a digest of other bytes": (record(block_digest=WRONG), "wrong_digest"),
    "a digest in hexadecimal": (record(block_digest=f"SHA256:{'0' * 64}"), "wrong_digest"),
    "a digest that is none": (record(block_digest="sha1:!!!!"), "wrong_digest"),
    "no type": (record(kind=None), "no_type"),
    "no URL": (record(url=None), "no_url"),
    "an empty URL": (record(url="<>"), "no_url"),
    "a name lookup": (
        record(b"20260101\nsite.test. 5 IN A 127.0.0.1", "dns:site.test"),
        "not_http",
    ),
    "an FTP transfer": (record(b"226 Transfer complete", "ftp://site.test/"), "not_http"),
    "an empty block": (record(b""), "not_http"),
    "blank lines": (record(b"\r\n\r\n\r\n\r\n"), "not_http"),
    "a revisit of nothing": (record(kind="revisit", refers_to_target_uri=URL), "no_original"),
    "a request of no kind": (record(b"", kind="request", url=None), "no_url"),
}


@pytest.mark.parametrize("name", LEFT_OUT)
def test_a_record_that_cannot_be_replayed_is_left_out_and_counted(archive, name):
    bad, reason = LEFT_OUT[name]

    site = archive(bad, GOOD, bad)

    assert site.left_out == {reason: 2}
    assert (len(site), title(site, "good")) == (1, b"<title>fine</title>")
    with pytest.raises(FetchError, match="not_archived"):
        site(Request(URL))


@pytest.mark.parametrize("kind", ["warcinfo", "metadata", "resource", "conversion", "x-odd"])
def test_records_of_other_types_are_no_fault(archive, kind):
    site = archive(record(b"anything", kind=kind), GOOD)

    assert (site.left_out, len(site)) == ({}, 1)


@pytest.mark.parametrize(
    "digest",
    [
        f"sha1:{base64.b32encode(hashlib.sha1(PAGE).digest()).decode()}",
        f"sha1:{hashlib.sha1(PAGE).hexdigest()}",
        f"SHA-256:{hashlib.sha256(PAGE).hexdigest().upper()}",
        f"md5:{hashlib.md5(PAGE).hexdigest()}",
        "blake3:unknown",
        "nonsense",
    ],
)
def test_a_digest_that_is_right_or_unknown_is_accepted(archive, digest):
    assert archive(record(block_digest=digest)).left_out == {}


def test_the_command_tells_what_was_left_out(tmp_path):
    bad = [record(block_digest=WRONG)] * 2 + [record(url=None)]
    (tmp_path / "a.warc.gz").write_bytes(packed(GOOD, *bad))
    (tmp_path / "titles.py").write_text(
        "from crawler import Spider\n\n\n"
        "class Titles(Spider):\n"
        f"    start_urls = ['{URL}good']\n\n"
        "    def parse(self, response):\n"
        "        yield {'title': response.title}\n"
    )

    done = crawler("replay", "a.warc.gz", "titles.py", cwd=tmp_path)

    assert (done.returncode, done.stdout) == (0, '{"title": "fine"}\n')
    assert done.stderr == (
        "a.warc.gz: 3 records were left out, which cannot be replayed: wrong_digest 2, no_url 1\n"
    )


# -- archives that are refused ------------------------------------------------------------------

LENGTHS = ["", "-5", "+5", "1e3", "0x10", "five", "5, 6", "5 6", "\xb2", "9" * 5000, "4_0"]


@pytest.mark.parametrize("length", LENGTHS)
def test_a_length_that_is_no_number_is_an_error(archive, length):
    with pytest.raises(FeedError, match=r"a\.warc.* cannot be read: damaged at byte 0: "):
        archive(record(length=length), GOOD)


@pytest.mark.parametrize("difference", [-len(PAGE), -5, -1, 1, 3, 50, 10**6, 10**15])
def test_a_length_that_lies_is_an_error(archive, difference):
    with pytest.raises(FeedError, match=r"cannot be read: damaged at byte \d+: "):
        archive(GOOD, record(length=len(PAGE) + difference), GOOD)


@pytest.mark.parametrize("missing", [1, 8, 9, 30, 60])
def test_a_gzip_stream_that_is_cut_off_in_the_middle_is_an_error(open_bytes, missing):
    one = gzip.compress(GOOD)

    with pytest.raises(FeedError, match=r"damaged at byte \d+: "):
        open_bytes(one + one[:-missing] + one + one)


@pytest.mark.parametrize(
    "junk", [b"", b"WARC", b"WARC/1.1\r\n\r\n", bytes(100), b"\r\n" * 50, GOOD[:-9]]
)
def test_a_gzip_stream_without_a_whole_record_is_an_error(open_bytes, junk):
    with pytest.raises(FeedError, match=r"damaged at byte \d+: "):
        open_bytes(packed(GOOD, junk, GOOD))


def test_several_records_in_one_gzip_stream_are_an_error_that_names_the_remedy(open_bytes):
    with pytest.raises(FeedError, match=r"several records in one gzip stream: .*gunzip"):
        open_bytes(gzip.compress(GOOD * 3))


@pytest.mark.parametrize("junk", [bytes(1000), b"\xff" * 1000, b"\x1f\x8b" * 500, b"WARD/1.1\r\n"])
def test_junk_behind_a_record_is_an_error(open_bytes, junk):
    for whole in (GOOD, gzip.compress(GOOD)):
        with pytest.raises(FeedError, match=f"damaged at byte {len(whole)}: "):
            open_bytes(whole + junk)


# -- sizes ----------------------------------------------------------------------------------------


def test_a_bomb_is_left_out_and_costs_no_memory(open_bytes):
    bomb = record(b"HTTP/1.1 200 OK\r\n\r\n" + bytes(60 * MB), URL + "bomb")
    content = packed(GOOD, bomb, GOOD)
    del bomb
    sites = []

    used = memory_of(lambda: sites.append(open_bytes(content, max_body=MB)))

    assert sites[0].left_out == {"too_large": 1}
    assert title(sites[0], "good") == b"<title>fine</title>"
    assert used < 40 * MB


def test_a_gzip_stream_without_end_is_an_error(open_bytes, monkeypatch):
    monkeypatch.setattr(reader, "LARGEST", 50 * MB)
    head = record(b"")[:-4].replace(b"Content-Length: 0", b"Content-Length: %d" % 10**12)
    stream = zlib.compressobj(wbits=reader.GZIP)
    start = stream.compress(head) + stream.flush(zlib.Z_FULL_FLUSH)
    zeros = stream.compress(bytes(10 * MB)) + stream.flush(zlib.Z_FULL_FLUSH)

    def open_it():
        with pytest.raises(FeedError, match=r"damaged at byte 0: .*larger than 50000000 bytes"):
            open_bytes(start + zeros * 1000, max_body=MB)

    assert memory_of(open_it) < 40 * MB


@pytest.mark.parametrize(
    "line", [b"X: " + b"a" * 20 * MB, b"X: y\r\n" * 3 * MB], ids=["one", "many"]
)
def test_headers_of_megabytes_are_an_error(archive, line):
    huge = b"WARC/1.1\r\n" + line + b"\r\nContent-Length: 0\r\n\r\n\r\n\r\n"

    def open_it():
        with pytest.raises(FeedError, match=r"damaged at byte \d+: "):
            archive(GOOD, huge, GOOD)

    assert memory_of(open_it) < 2 * len(huge) + 10 * MB  # the test itself has the file twice


def test_http_headers_of_megabytes_are_too_large(archive):
    block = b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 2 * MB + b"\r\nbody"
    site = archive(record(block))
    del block

    def fetch():
        with pytest.raises(FetchError, match="too_large"):
            site(Request(URL))

    assert memory_of(fetch) < 40 * MB


def test_a_body_that_is_coded_many_times_is_an_error(archive):
    body = PAGE
    for _ in range(30):
        body = gzip.compress(body)
    codings = ", ".join(["gzip"] * 30)
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: {codings}\r\n\r\n".encode()

    with pytest.raises(FetchError, match="30 codings"):
        archive(record(head + body))(Request(URL))


def many(number):
    return b"".join(record(b"HTTP/1.1 204 No\r\n\r\n", f"{URL}{n}") for n in range(number))


def linked(number):
    """Return requests whose responses are missing."""
    return b"".join(
        record(
            b"GET / HTTP/1.1\r\n\r\n", f"{URL}{n}", "request", record_id=f"<{n}>", concurrent_to=n
        )
        for n in range(number)
    )


@pytest.mark.parametrize("records", [many, linked])
def test_the_number_of_records_costs_time_but_no_memory(open_bytes, records):
    few, lots = records(500), records(1000)

    assert costs_at_most(3, lambda: open_bytes(lots), lambda: open_bytes(few))
    assert memory_of(lambda: open_bytes(lots)) < memory_of(lambda: open_bytes(few)) + len(lots)


def test_an_index_that_finds_no_room_is_an_error(tmp_path):
    """It is larger than the cache of SQLite."""
    (tmp_path / "a.warc").write_bytes(with_links(2000) * 60)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, hard))
    try:
        with pytest.raises(
            FeedError, match=r"the index of .*a\.warc cannot be written.* make room"
        ):
            WarcSite(tmp_path / "a.warc")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_one_url_that_was_archived_often_is_replayed_in_linear_time(open_bytes):
    def replayed(number):
        site = open_bytes(record(b"HTTP/1.1 204 No\r\n\r\n") * number)
        for _ in range(number):
            site(Request(URL))

    assert grows_linearly(replayed, 500)


def with_links(number):
    ids = "\r\n".join(f"WARC-Concurrent-To: <urn:{n}>" for n in range(number))
    return record(record_id=f"<urn:x>\r\n{ids}")


def test_a_record_with_many_links_is_no_trouble(archive):
    assert len(archive(*[with_links(2000)] * 5)) == 5


# -- strange contents ---------------------------------------------------------------------------


class Titles(Spider):
    def parse(self, response):
        yield {"title": response.title}


def moved(url, to):
    return record(f"HTTP/1.1 302 Found\r\nLocation: {to}\r\n\r\n".encode(), url)


def test_redirects_in_a_circle_end(archive):
    site = archive(moved(URL, "/a"), moved(URL + "a", "/b"), moved(URL + "b", "/"))

    result = crawl(Titles(start_urls=[URL]), fetch=site, **OFFLINE)

    assert result.summary.urls.failed == {"redirect_loop": 1}


def test_revisits_in_a_circle_are_left_out(archive):
    site = archive(
        record(url=URL + "a", kind="revisit", refers_to_target_uri=URL + "b"),
        record(url=URL + "b", kind="revisit", refers_to_target_uri=URL + "a"),
        record(url=URL + "c", kind="revisit", refers_to_target_uri=URL + "c"),
    )

    assert (site.left_out, len(site)) == ({"no_original": 3}, 0)


@pytest.mark.parametrize("code", [*range(32), 0x7F, *range(0x80, 0xA0), 0xFF])
def test_a_url_with_a_control_character_is_replayed_or_not_found(archive, code):
    bad = "" if code in {10, 13} else f"http://site.test/{chr(code)}x\xff\xfe"
    site = archive(record(url=bad or URL), record(url=f"{chr(code)}\xc3\x28"), GOOD)

    assert title(site, "good") == b"<title>fine</title>"
    for asked in (URL + "x", URL + chr(code) + "x"):
        assert answer(site, asked) in {"200", "not_archived"}


def test_a_url_in_utf_8_is_found(archive):
    site = archive(record(url="http://site.test/\xc3\xa9"), record(url="http://site.test/\xe8"))

    assert title(site, "%C3%A9") == title(site, "é") == b"<title>fine</title>"
    assert title(site, "è") == b"<title>fine</title>"


@pytest.mark.parametrize(
    "first", ["HTTP/1.1", "HTTP/1.1 ", "HTTP/1.1 2OO OK", f"HTTP/1.1 {'9' * 5000}", "HTTP/1.1 -200"]
)
def test_a_response_without_a_status_is_an_error_of_the_page(archive, first):
    with pytest.raises(FetchError, match="protocol"):
        archive(record(f"{first}\r\n\r\nbody".encode()))(Request(URL))


CHUNKS = [b"-5\r\nhello", b"0x5\r\nhello\r\n", b"f" * 5000 + b"\r\nhello", b"5\r\nhe", b"\r\n\r\n"]


@pytest.mark.parametrize("body", CHUNKS)
def test_chunks_that_lie_are_no_trouble(archive, body):
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

    assert archive(record(head + body))(Request(URL)).status == 200


def test_a_body_of_the_smallest_chunks_is_joined_in_linear_time(archive):
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    site = archive(*(record(head + b"1\r\na\r\n" * n, f"{URL}{n}") for n in (20_000, 40_000)))

    assert grows_linearly(lambda number: title(site, str(number)), 20_000)
