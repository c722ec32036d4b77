"""A crawl without a network: answers from an archive."""

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

#: What an answer is found by: method, page, and digest of the body sent.
Key: TypeAlias = tuple[str, str, bytes]
_LINKS = ("warc-record-id", "warc-concurrent-to")


class WarcSite:
    """
    Fetches from an archive: a fetch function for replaying a crawl, ours or another's.

    A request is answered by what was archived for its method, URL and body: asked again, by
    what came next, and by the last for ever. What is not there fails as ``not_archived``.
    Bodies come decoded, up to *max_body* bytes; responses of our own archives have the header
    fields the server sent, and a Content-Length in any case.

    The archive is read through once, to find what it holds; a last record that has no end is
    not counted, and *torn* is the byte where it begins, or None.
    """

    def __init__(self, path: str | os.PathLike[str], *, max_body: int = 64 * 2**20) -> None:
        self.path = Path(path)
        self.max_body = max_body
        self._asked: Counter[Key] = Counter()
        self._open = ExitStack()
        self._content = self._open.enter_context(mapped(self.path))
        try:
            self._answers, end = _index(self._content)
        except FeedError as error:
            self.close()
            raise FeedError(f"{self.path} cannot be read: {error}") from None
        self.torn = end if end < len(self._content) else None

    def __call__(self, request: Request) -> Response:
        key = _key(request.method, request.url, request.body)
        answers = self._answers.get(key)
        if answers is None:
            raise FetchError(
                "not_archived", f"{request.method} {request.url} is not in {self.path}"
            )
        turn = min(self._asked[key], len(answers) - 1)
        self._asked[key] += 1
        return self._response(record_at(self._content, answers[turn]), request)

    def __len__(self) -> int:
        return sum(map(len, self._answers.values()))

    def close(self) -> None:
        self._open.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<WarcSite {self.path}, {len(self)} answers>"

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
    """A response in the archive, before it is known what it answers."""

    links: list[str]
    url: str
    start: int
    revisit_of: str | None


def _index(content: Content) -> tuple[dict[Key, list[int]], int]:
    """Return where the answers to each request begin, in the order they came, and all end."""
    asked: dict[str, Key] = {}
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
            asked |= dict.fromkeys(links, _key(first.partition(" ")[0].upper(), url, body))
        elif kind in {"response", "revisit"}:
            original = fields.get("warc-refers-to-target-uri")
            found.append(_Found(links, url, record.start, original))
    return _matched(asked, found), end


def _matched(asked: dict[str, Key], found: list[_Found]) -> dict[Key, list[int]]:
    answers: dict[Key, list[int]] = {}
    for response in found:
        keys = [asked[link] for link in response.links if link in asked]
        key = keys[0] if keys else _key("GET", response.url, b"")
        start = response.start
        if response.revisit_of is not None:
            *_, start = answers.get(_key("GET", response.revisit_of, b""), [-1])
        if start >= 0:
            answers.setdefault(key, []).append(start)
    return answers


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
    """Give the fields the names they had on the wire, and let these win over ours."""
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


# -- bodies as others keep them: in chunks and packed, as they came over the wire ---------------


def _decoded(body: bytes, headers: Headers, limit: int) -> bytes:
    if "chunked" in headers.get("transfer-encoding", "").lower():
        body = _dechunked(body)
    return decode_archived(body, headers.get("content-encoding", ""), limit)


def _dechunked(body: bytes) -> bytes:
    """Join the chunks; a body that has none was joined before it was archived."""
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
