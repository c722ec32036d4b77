"""WarcSite: a crawl without a network, with the responses of an archive."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple, Self, TypeAlias

from ...data import Headers, Request, Response
from ...errors import FetchError, InvalidURL
from ...http.content_coding import decode_archived
from ...url import canonicalize
from ..append_file import mapped
from ..output import FeedError
from .reader import Content, Record, head_of, record_at, records
from .writer import FRAMING, PREFIX, address

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
#: The key of a response: method, URL, and digest of the body of the request.
Key: TypeAlias = tuple[str, str, bytes]
_LINKS = ("warc-record-id", "warc-concurrent-to")


class WarcSite:
    """
    A fetch function that replays a crawl from an archive, ours or that of another program.

    A request gets the response that was archived for its method, URL and body. The same request
    again gets the next one, and the last one every time after that. A request without an
    archived response fails as ``not_archived``. Bodies are decoded, up to *max_body* bytes.
    Responses of our own archives have the header fields that the server sent, and always a
    Content-Length.

    The archive is read once at the start, to index it. An incomplete last record is ignored;
    *torn* is the byte where it begins, or None.
    """

    def __init__(self, path: str | os.PathLike[str], *, max_body: int = 64 * 2**20) -> None:
        self.path = Path(path)
        self.max_body = max_body
        self._requests: Counter[Key] = Counter()
        self._open = ExitStack()
        self._content = self._open.enter_context(mapped(self.path))
        try:
            self._responses, end = _index(self._content)
        except FeedError as error:
            self.close()
            raise FeedError(f"{self.path} cannot be read: {error}") from None
        self.torn = end if end < len(self._content) else None

    def __call__(self, request: Request) -> Response:
        key = _key(request.method, request.url, request.body)
        starts = self._responses.get(key)
        if starts is None:
            raise FetchError(
                "not_archived", f"{request.method} {request.url} is not in {self.path}"
            )
        turn = min(self._requests[key], len(starts) - 1)
        self._requests[key] += 1
        return self._response(record_at(self._content, starts[turn]), request)

    def __len__(self) -> int:
        return sum(map(len, self._responses.values()))

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
        status = [*first.split(), ""][1]
        if not status.isdecimal():
            raise FetchError("protocol", f"no HTTP response at byte {record.start} of {self.path}")
        return Response(
            request.url,
            int(status),
            _restored(headers),
            _decoded(body, headers, self.max_body),
            request,
            flags=frozenset({"truncated"} if "warc-truncated" in record.fields else ()),
        )


class _Found(NamedTuple):
    """A response in the archive, before its request is known."""

    links: list[str]
    url: str
    start: int
    revisit_of: str | None


def _index(content: Content) -> tuple[dict[Key, list[int]], int]:
    """Return where the responses to each request begin, in their order, and where all end."""
    requests: dict[str, Key] = {}
    found: list[_Found] = []
    end = 0
    for record in records(content):
        fields, end = record.fields, record.end
        # A request names its response, or is named by it; some archives do both.
        links = [link for name in _LINKS for link in fields.all(name)]
        url = fields.get("warc-target-uri", "").strip("<>")
        kind = fields.get("warc-type")
        if kind == "request":
            first, _, body = _http(record)
            requests |= dict.fromkeys(links, _key(first.partition(" ")[0].upper(), url, body))
        elif kind in {"response", "revisit"}:
            original = fields.get("warc-refers-to-target-uri")
            found.append(_Found(links, url, record.start, original))
    return _matched(requests, found), end


def _matched(requests: dict[str, Key], found: list[_Found]) -> dict[Key, list[int]]:
    starts: dict[Key, list[int]] = {}
    for response in found:
        keys = [requests[link] for link in response.links if link in requests]
        key = keys[0] if keys else _key("GET", response.url, b"")
        start = response.start
        if response.revisit_of is not None:
            *_, start = starts.get(_key("GET", response.revisit_of, b""), [-1])
        if start >= 0:
            starts.setdefault(key, []).append(start)
    return starts


def _key(method: str, url: str, body: bytes) -> Key:
    try:
        page = canonicalize(address(url))
    except InvalidURL:
        page = url
    return method, page, hashlib.sha1(body, usedforsecurity=False).digest() if body else b""


def _http(record: Record) -> tuple[str, Headers, bytes]:
    head, _, body = record.block.partition(b"\r\n\r\n")
    return *head_of(head), body


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
