"""WarcSite: a crawl without a network, with the responses of an archive."""

from __future__ import annotations

import os
import re
import sqlite3
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Self

from ...data import Request, Response
from ...errors import FetchError
from ...headers import Headers
from ...http.content_coding import decode_archived
from ..append_file import mapped
from ..output import FeedError
from .index import ArchiveIndex, key_of
from .reader import LONGEST_HEAD, Record, head_of, record_at
from .writer import FRAMING, PREFIX

#: The most bytes of a body.
MAX_BODY = 64 * 2**20
#: Settings of a crawl of an archive, which nobody waits for. A retry gets the answer that it got
#: in the crawl.
OFFLINE = {
    "robots": False,
    "delay": 0,
    "retries.wait": 0,
    "politeness.latency_factor": 0,
    "politeness.backoff": 0,
    "politeness.throttle": 0,
    "politeness.max_retry_after": 0,
    "politeness.give_up_after": 1_000_000,
}
_END = b"\r\n\r\n"
_STATUS = re.compile(r"HTTP/\S+ +([0-9]{3})(?![^ ])")


class WarcSite:
    """
    A fetch function that replays a crawl from an archive, ours or that of another program.

    A request gets the response that was archived for its method, URL and body. The same request
    again gets the next one, and the last one every time after that. A request without an
    archived response fails as ``not_archived``. Bodies are decoded, up to *max_body* bytes.
    Responses of our own archives have the header fields that the server sent, and always a
    Content-Length.

    The archive is read once at the start, to index it. An incomplete last record is ignored;
    *torn* is the byte where it begins, or None. Records that cannot be replayed are left out,
    and counted by reason in *left_out*: see ArchiveIndex. An archive in which the end of a
    record cannot be found raises FeedError.
    """

    def __init__(self, path: str | os.PathLike[str], *, max_body: int = MAX_BODY) -> None:
        self.path = Path(path)
        self.max_body = max_body
        self._largest = max_body + LONGEST_HEAD
        #: By key, the answer that was given last: where it is, and where its record begins.
        self._given: dict[bytes, tuple[int, int]] = {}
        self._open = ExitStack()
        self._content = self._open.enter_context(mapped(self.path))
        try:
            self._index = ArchiveIndex(self._content, self._largest)
        except FeedError as error:
            self.close()
            raise FeedError(f"{self.path} cannot be read: {error}") from None
        except sqlite3.Error as error:
            self.close()
            raise FeedError(
                f"the index of {self.path} cannot be written to the folder for temporary files: "
                f"{error}; make room there, or name another folder with SQLITE_TMPDIR"
            ) from error
        self._open.callback(self._index.close)
        self.torn = self._index.end if self._index.end < len(self._content) else None

    @property
    def left_out(self) -> Counter[str]:
        return self._index.left_out

    def __call__(self, request: Request) -> Response:
        key = key_of(request.method, request.url, request.body)
        before = self._given.get(key)
        found = self._index.next(key, before[0] if before else -1) or before
        if found is None:
            raise FetchError(
                "not_archived", f"{request.method} {request.url} is not in {self.path}"
            )
        self._given[key] = found
        return self._response(record_at(self._content, found[1], self._largest), request)

    def __len__(self) -> int:
        return self._index.size

    def close(self) -> None:
        self._open.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<WarcSite {self.path}, {len(self)} responses>"

    def _response(self, record: Record, request: Request) -> Response:
        first, headers, body = _http(record)
        status = _STATUS.match(first)
        if status is None:
            raise FetchError("protocol", f"no HTTP response at byte {record.start} of {self.path}")
        return Response(
            request.url,
            int(status[1]),
            _restored(headers),
            _decoded(body, headers, self.max_body),
            request,
            flags=frozenset({"truncated"} if "warc-truncated" in record.fields else ()),
        )


def _http(record: Record) -> tuple[str, Headers, bytes]:
    block = record.block or b""
    head = block[:LONGEST_HEAD].partition(_END)[0]
    if len(head) == LONGEST_HEAD:
        raise FetchError("too_large", f"the headers are larger than {LONGEST_HEAD} bytes")
    return *head_of(head), block[len(head) + len(_END) :]


def _restored(headers: Headers) -> Headers:
    """Return the fields under the names that the server sent; these replace our own fields."""
    fields = [(_original_name(name), name, value) for name, value in headers.fields]
    renamed = {original.lower() for original, name, _ in fields if original != name}
    return Headers(
        [
            (original, value)
            for original, name, value in fields
            if original != name or name.lower() not in renamed
        ]
    )


def _original_name(name: str) -> str:
    original = name.removeprefix(PREFIX)
    return original if original.lower() in FRAMING else name


# -- bodies of other programs' archives: chunked and compressed, as they were received --------


def _decoded(body: bytes, headers: Headers, limit: int) -> bytes:
    if "chunked" in headers.get("transfer-encoding", "").lower():
        body = _dechunked(body)
    return decode_archived(body, headers.get("content-encoding", ""), limit)


def _dechunked(body: bytes) -> bytes:
    """Join the chunks; a body without chunks was joined before it was archived."""
    pieces: list[bytes] = []
    start = 0
    while True:
        end = body.find(b"\r\n", start)
        try:
            size = int(body[start : max(end, start)].partition(b";")[0], 16)
        except ValueError:
            return b"".join(pieces) or body
        if size <= 0:
            return b"".join(pieces)
        pieces.append(body[end + 2 : end + 2 + size])
        start = end + 2 + size + 2
