"""Bodies that go to a file: what every fetcher promises, and how little of them is in memory."""

import gzip
import hashlib
import time
import tracemalloc
from itertools import repeat

import gevent
import pytest

from crawler import FetchError, Request
from crawler.fetch import CurlFetch, Limits
from crawler.testing import End, Reply, Wire, faults

from .conftest import LOOPBACK

MIB = 2**20
PIECE = bytes(range(256)) * 256  # 64 KiB
LARGE = 64 * MIB


def download(pieces, *fields, size=LARGE):
    return Wire(faults.head(f"content-length: {size}", *fields), pieces, End.CLOSE)


def names_in(directory):
    return sorted(path.name for path in directory.iterdir())


def failure(fetch, request):
    with pytest.raises(FetchError) as caught:
        fetch(request)
    return caught.value.kind


def test_a_body_goes_to_the_file(fetch, serve, tmp_path):
    site = serve({"/": Reply(200, {"content-type": "image/png"}, b"picture")})

    response = fetch(Request(site.url(), save_to=tmp_path / "deep" / "file"))

    assert (response.status, response.body, response.size) == (200, b"", 7)
    assert response.saved.path == str(tmp_path / "deep" / "file")
    assert response.saved.sha256 == hashlib.sha256(b"picture").hexdigest()
    assert (tmp_path / "deep" / "file").read_bytes() == b"picture"


def test_a_body_beyond_the_limit_of_memory_goes_through_little_memory(fetcher, serve, tmp_path):
    pieces = LARGE // len(PIECE)
    fetch = fetcher(body=MIB, total=60.0)
    site = serve({"/": download(repeat(PIECE, pieces))})
    request = Request(site.url(), save_to=f"{tmp_path}/")
    tracemalloc.start()
    try:
        response = fetch(request)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert response.size == LARGE
    assert response.saved.sha256 == hashlib.sha256(PIECE * pieces).hexdigest()
    # Both sides of the connection are in this process: the server needs some, too.
    assert peak < 4 * MIB


def test_while_a_body_is_received_none_of_it_counts_as_memory(stack, serve, tmp_path):
    fetch = stack.enter_context(CurlFetch(allow_address=LOOPBACK))
    site = serve({"/": Wire(faults.head(f"content-length: {MIB}"), PIECE, End.HANG)})
    task = gevent.spawn(fetch, Request(site.url(), save_to=tmp_path / "file"))
    with gevent.Timeout(120):
        while not (
            fetch._multi and any(h.receiver._size for _, h in fetch._multi._running.values())
        ):
            gevent.sleep(0.01)

    assert fetch.receiving() == 0
    task.kill()
    assert names_in(tmp_path) == []


def test_a_coded_body_is_decoded_within_its_limit(fetcher, serve, tmp_path):
    fetch = fetcher(body=1000, file=2 * MIB)
    site = serve(
        {
            "/": faults.coded(gzip.compress(bytes(MIB))),
            "/bomb": faults.coded(gzip.compress(bytes(2 * MIB + 1))),
        }
    )

    assert fetch(Request(site.url(), save_to=tmp_path / "file")).size == MIB
    assert failure(fetch, Request(site.url("/bomb"), save_to=tmp_path / "bomb")) == "too_large"
    assert names_in(tmp_path) == ["file"]


@pytest.mark.parametrize(
    ("page", "kind"),
    [
        (faults.truncated(), "truncated"),
        (faults.truncated_chunks(), "truncated"),
        (faults.truncated_gzip(), "truncated"),
        (faults.corrupt_gzip(), "bad_encoding"),
        (faults.coded(b"?", "zstd"), "bad_encoding"),
        (faults.endless_body(), "too_large"),
        (faults.reset(200), "truncated"),
        (Wire(faults.head("content-length: 100"), b"x", End.HANG), "timeout"),
    ],
    ids=["length", "chunks", "gzip", "corrupt", "unknown coding", "endless", "reset", "hang"],
)
def test_a_body_that_is_not_whole_leaves_no_file(fetcher, serve, tmp_path, page, kind):
    fetch = fetcher(file=MIB, file_total=1.0)
    site = serve({"/": page})

    assert failure(fetch, Request(site.url(), save_to=tmp_path / "file")) == kind
    assert names_in(tmp_path) == []


def test_the_time_limit_of_pages_does_not_count(fetcher, serve, tmp_path):
    fetch = fetcher(total=0.2, file_total=10.0)
    site = serve({"/": faults.drip(b"abc", every=0.2)})

    def begins_early(name):
        began = time.monotonic()
        response = fetch(Request(site.url(), save_to=tmp_path / name))
        assert response.size == 3
        return response.elapsed < (time.monotonic() - began) / 2

    # The answer begins at once; a busy machine may see its beginning late, but not each time.
    assert any(map(begins_early, "abcde"))
    assert failure(fetch, Request(site.url(), save_to=tmp_path / "file", timeout=0.1)) == "timeout"


@pytest.mark.parametrize("status", [302, 404, 503])
def test_a_reply_without_success_stays_in_memory(fetcher, serve, tmp_path, status):
    fetch = fetcher(body=100)
    site = serve(
        {
            "/": Reply(status, {"location": "/next"}, b"sorry"),
            "/large": Reply(status, {}, bytes(101)),
        }
    )

    response = fetch(Request(site.url(), save_to=tmp_path / "file"))

    assert (response.body, response.saved) == (b"sorry", None)
    assert failure(fetch, Request(site.url("/large"), save_to=tmp_path / "file")) == "too_large"
    assert names_in(tmp_path) == []


def test_an_empty_body_is_an_empty_file(fetch, serve, tmp_path):
    site = serve({"/": Reply(200, {"content-encoding": "gzip"}, b"")})

    assert fetch(Request(site.url(), save_to=tmp_path / "file")).size == 0
    assert (tmp_path / "file").read_bytes() == b""


def test_a_head_request_saves_nothing(fetch, serve, tmp_path):
    site = serve({"/": "page"})

    assert fetch(Request(site.url(), "HEAD", save_to=tmp_path / "file")).saved is None
    assert names_in(tmp_path) == []


def test_a_file_that_cannot_be_written_is_an_error_of_the_disk(fetch, serve, tmp_path):
    site = serve({"/": "page"})
    (tmp_path / "file").touch()

    assert failure(fetch, Request(site.url(), save_to=tmp_path / "file" / "deeper")) == "disk"
    assert fetch(Request(site.url())).text == "page"


def test_the_next_body_is_in_memory_again(fetch, serve, tmp_path):
    site = serve({"/": "page"})

    fetch(Request(site.url(), save_to=tmp_path / "file"))

    assert fetch(Request(site.url())).text == "page"


def test_a_killed_download_leaves_no_file(fetch, serve, tmp_path):
    site = serve({"/": Wire(faults.head("content-length: 100"), b"x", End.HANG)})
    task = gevent.spawn(fetch, Request(site.url(), save_to=tmp_path / "file"))
    with gevent.Timeout(120):
        while not site.requests:
            gevent.sleep(0.01)

    task.kill()

    assert names_in(tmp_path) == []


def test_limits_of_files_have_to_be_positive():
    with pytest.raises(ValueError, match="file must be more than 0"):
        Limits(file=0)
