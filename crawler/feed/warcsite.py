"""A crawl without a network: answers from an archive."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeAlias

from ..data import Headers, Request, Response
from ..errors import FetchError, InvalidURL
from ..url import canonicalize
from . import extra
from .output import FeedError
from .warc import FRAMING, PREFIX, address

#: What an answer is found by: method, page, and digest of the body sent.
Key: TypeAlias = tuple[str, str, bytes]
_PIECE = 1 << 16


@dataclass(slots=True)
class _Found:
    """A response or revisit in the archive, not yet told what it answers."""

    names: list[str]
    url: str
    offset: int
    revisit_of: str | None


class WarcSite:
    """
    Fetches from an archive: a fetch function for replaying a crawl, ours or another's.

    A request is answered by what was archived for its method, URL and body: asked again, by
    what came next, and by the last for ever. What is not there fails as ``not_archived``.
    Bodies come decoded, and responses of our own archives have the header fields the
    server sent, with a Content-Length in any case.

    The archive is read through once, to find what it holds; a last record that has no end is
    not counted. Needs the extra ``warc``.
    """

    def __init__(self, path: str | os.PathLike[str], *, max_body: int = 64 * 2**20) -> None:
        self.path = Path(path)
        self.max_body = max_body
        self._archive = extra.load("warcio.archiveiterator", "warc").ArchiveIterator
        self._asked: Counter[Key] = Counter()
        self._file = self.path.open("rb")
        try:
            self._answers = self._index()
        except BaseException:
            self._file.close()
            raise

    def __call__(self, request: Request) -> Response:
        key = _key(request.method, request.url, request.body)
        answers = self._answers.get(key)
        if answers is None:
            raise FetchError(
                "not_archived", f"{request.method} {request.url} is not in {self.path}"
            )
        turn = min(self._asked[key], len(answers) - 1)
        self._asked[key] += 1
        return self._response(answers[turn], request)

    def __len__(self) -> int:
        return sum(map(len, self._answers.values()))

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<WarcSite {self.path}, {len(self)} answers>"

    def _index(self) -> dict[Key, list[int]]:
        asked: dict[str, Key] = {}
        found: list[_Found] = []
        for offset, record in self._records():
            names = _names(record)
            if record.rec_type == "request":
                key = _asked_key(record)
                if _is_whole(record):
                    asked.update(dict.fromkeys(names, key))
            elif record.rec_type in {"response", "revisit"}:
                original = record.rec_headers.get_header("WARC-Refers-To-Target-URI")
                entry = _Found(names, _url(record), offset, original)
                if _is_whole(record):
                    found.append(entry)
        return _matched(asked, found)

    def _records(self) -> Iterator[tuple[int, Any]]:
        archive = self._archive(self._file, no_record_parse=True)
        try:
            for record in archive:
                yield archive.offset, record
        except Exception as error:
            raise FeedError(f"{self.path} is not a whole archive: {error}") from error

    def _response(self, offset: int, request: Request) -> Response:
        self._file.seek(offset)
        record = next(iter(self._archive(self._file, no_record_parse=True)))
        try:
            status, headers = _read_head(record.raw_stream)
            body = self._body(record, headers)
        except (ValueError, IndexError) as error:
            raise FetchError("protocol", f"no HTTP response at byte {offset}: {error}") from error
        flags = {"truncated"} if record.rec_headers.get_header("WARC-Truncated") else set()
        return Response(
            request.url, status, _restored(headers), body, request, flags=frozenset(flags)
        )

    def _body(self, record: Any, headers: Headers) -> bytes:
        parsed = extra.load("warcio.statusandheaders", "warc").StatusAndHeaders
        framing = [(name, headers[name].lower()) for name in FRAMING if name in headers]
        record.http_headers = parsed("", framing)
        content = record.content_stream()
        pieces: list[bytes] = []
        size = 0
        while piece := _decoded(content):
            pieces.append(piece)
            size += len(piece)
            if size > self.max_body:
                raise FetchError("too_large", f"the body is larger than {self.max_body} bytes")
        return b"".join(pieces)


def _matched(asked: dict[str, Key], found: list[_Found]) -> dict[Key, list[int]]:
    answers: dict[Key, list[int]] = {}
    for entry in found:
        keys = [asked[name] for name in entry.names if name in asked]
        key = keys[0] if keys else _key("GET", entry.url, b"")
        if entry.revisit_of is None:
            answers.setdefault(key, []).append(entry.offset)
        elif original := answers.get(_key("GET", entry.revisit_of, b"")):
            answers.setdefault(key, []).append(original[-1])
    return answers


def _key(method: str, url: str, body: bytes) -> Key:
    try:
        page = canonicalize(address(url))
    except InvalidURL:
        page = url
    return method, page, hashlib.sha1(body, usedforsecurity=False).digest() if body else b""


def _asked_key(record: Any) -> Key:
    first, *_ = [*_head_lines(record.raw_stream), ""]
    return _key(first.partition(" ")[0].upper(), _url(record), _rest(record.raw_stream))


def _names(record: Any) -> list[str]:
    """Return the ids by which a request and its response know each other."""
    fields = record.rec_headers.headers
    return [v for n, v in fields if n.lower() in {"warc-record-id", "warc-concurrent-to"}]


def _url(record: Any) -> str:
    return record.rec_headers.get_header("WARC-Target-URI") or ""


def _is_whole(record: Any) -> bool:
    """Read a record to its end, and say whether the end was there."""
    _rest(record.raw_stream)
    return record.length is not None and record.raw_stream.limit == 0


def _rest(stream: Any) -> bytes:
    return b"".join(iter(lambda: stream.read(_PIECE), b""))


def _head_lines(stream: Any) -> Iterator[str]:
    """Give the lines up to the empty one, as bytes stand for characters on the wire."""
    while line := stream.readline().decode("latin-1").rstrip("\r\n"):
        yield line


def _read_head(stream: Any) -> tuple[int, Headers]:
    lines = _head_lines(stream)
    status = int(next(lines, "").split()[1])
    fields = (line.partition(":") for line in lines)
    return status, Headers([(name.strip(), value.strip()) for name, _, value in fields])


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
    original = name[len(PREFIX) :]
    return original if name.startswith(PREFIX) and original.lower() in FRAMING else name


def _decoded(content: Any) -> bytes:
    try:
        piece: bytes = content.read(_PIECE)
    except Exception as error:  # each decoder has an exception of its own
        raise FetchError("bad_encoding", str(error)) from error
    return piece
