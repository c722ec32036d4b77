"""ArchiveIndex: where the responses of an archive begin, by what was asked."""

from __future__ import annotations

import base64
import hashlib
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, suppress

from ...errors import InvalidURL
from ...url import canonicalize
from .reader import Content, Record, records
from .writer import address

_KINDS = frozenset({"request", "response", "revisit"})
_LINKS = ("warc-record-id", "warc-concurrent-to")
#: The digests that are checked.
_DIGESTS = frozenset({"md5", "sha1", "sha256", "sha384", "sha512"})

#: Keys and links are hashes. The record of an answer begins at *original*, which for a revisit is
#: not its *start*.
_TABLES = """
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
BEGIN;
CREATE TABLE requests (link BLOB PRIMARY KEY, key BLOB) WITHOUT ROWID;
CREATE TABLE links (start INTEGER, link BLOB);
CREATE TABLE answers (start INTEGER PRIMARY KEY, key BLOB, original INTEGER, revisit_of BLOB);
"""
#: A request names its response, or is named by it; some archives do both. A revisit stands for the
#: last response before it that its page had.
_COMPLETE = """
UPDATE answers SET key = found.key
    FROM (SELECT start, key FROM links JOIN requests USING (link)) AS found
    WHERE answers.start = found.start;
DROP TABLE links;
DROP TABLE requests;
CREATE INDEX by_key ON answers (key, start) WHERE revisit_of IS NULL;
UPDATE answers SET original = (
    SELECT max(start) FROM answers AS earlier WHERE earlier.revisit_of IS NULL
        AND earlier.key = answers.revisit_of AND earlier.start < answers.start
    ) WHERE revisit_of IS NOT NULL;
DROP INDEX by_key;
CREATE INDEX by_key ON answers (key, start);
"""
_NEXT = "SELECT start, original FROM answers WHERE key = ? AND start > ? ORDER BY start LIMIT 1"


class ArchiveIndex:
    """
    Finds responses by their key. It is in a temporary file, so its size costs no memory.

    *left_out* counts the records that cannot be replayed, by reason: records without a type;
    requests and responses with a wrong digest, without a URL, or with a block of more than
    *largest* bytes; responses that are not of HTTP; revisits of what is not there. *end* is
    where the last whole record ends.
    """

    def __init__(self, content: Content, largest: int) -> None:
        self.left_out: Counter[str] = Counter()
        self.end = 0
        #: How many responses there are.
        self.size = 0
        self._largest = largest
        with ExitStack() as on_error:
            self._database = sqlite3.connect("", isolation_level=None, check_same_thread=False)
            on_error.callback(self._database.close)
            self._database.executescript(_TABLES)
            for record in self._usable(content):
                self._add(record)
            self._complete()
            on_error.pop_all()

    def next(self, key: bytes, after: int) -> tuple[int, int] | None:
        """Return where the first answer to *key* behind *after* is, and where its record begins."""
        found: tuple[int, int] | None = self._database.execute(_NEXT, (key, after)).fetchone()
        return found

    def close(self) -> None:
        self._database.close()

    def _usable(self, content: Content) -> Iterator[Record]:
        for record in records(content, self._largest):
            self.end = record.end
            kind = record.fields.get("warc-type", "")
            fault = _fault(record, kind)
            if fault:
                self.left_out[fault] += 1
            elif kind in _KINDS:
                yield record

    def _add(self, record: Record) -> None:
        fields, start, insert = record.fields, record.start, self._database.executemany
        links = [_hash(link) for name in _LINKS for link in fields.all(name)]
        if fields["warc-type"] == "request":
            key = _request_key(record)
            insert("INSERT OR REPLACE INTO requests VALUES (?, ?)", [(link, key) for link in links])
            return
        revisit_of = None
        if fields["warc-type"] == "revisit" and "warc-refers-to-target-uri" in fields:
            revisit_of = key_of("GET", _url(fields["warc-refers-to-target-uri"]))
        key = key_of("GET", _url(fields["warc-target-uri"]))
        insert("INSERT INTO answers VALUES (?, ?, ?, ?)", [(start, key, start, revisit_of)])
        insert("INSERT INTO links VALUES (?, ?)", [(start, link) for link in links])

    def _complete(self) -> None:
        self._database.executescript(_COMPLETE)
        lost = self._database.execute("DELETE FROM answers WHERE original IS NULL").rowcount
        if lost:
            self.left_out["no_original"] += lost
        (self.size,) = self._database.execute("SELECT count(*) FROM answers").fetchone()


def key_of(method: str, url: str, body: bytes = b"") -> bytes:
    """Return the key of the answers to a request, the same for every spelling of the URL."""
    with suppress(InvalidURL):
        url = canonicalize(address(url))
    digest = hashlib.sha1(body, usedforsecurity=False).hexdigest() if body else ""
    return _hash(repr((method, url, digest)))


def _request_key(record: Record) -> bytes:
    head, _, body = (record.block or b"").partition(b"\r\n\r\n")
    method = head[:100].split(b" ", 1)[0].decode("latin-1").upper()
    return key_of(method, _url(record.fields["warc-target-uri"]), body)


def _fault(record: Record, kind: str) -> str:
    """Return why *record* cannot be used; "" if it can, or is of a type that does not matter."""
    if not kind:
        return "no_type"
    if kind not in _KINDS:
        return ""
    if record.block is None:
        return "too_large"
    if not _url(record.fields.get("warc-target-uri", "")):
        return "no_url"
    if _is_wrong(record.fields.get("warc-block-digest", ""), record.block):
        return "wrong_digest"
    if kind == "response" and not record.block.startswith(b"HTTP/"):
        return "not_http"
    return ""


def _is_wrong(digest: str, block: bytes) -> bool:
    """Return whether *digest*, "sha1:" and Base32 or others, is not that of *block*."""
    name, _, value = digest.partition(":")
    algorithm = name.strip().lower().replace("-", "")
    if algorithm not in _DIGESTS:
        return False
    found = hashlib.new(algorithm, block, usedforsecurity=False).digest()
    value = value.strip().rstrip("=")
    known = (base64.b32encode(found), base64.b16encode(found))
    return value.upper() not in [text.decode().rstrip("=") for text in known]


def _url(written: str) -> str:
    """Return a URL as its header field means it: in UTF-8, and in some archives between < and >."""
    try:
        return written.strip("<>").encode("latin-1").decode()
    except UnicodeDecodeError:
        return written.strip("<>")


def _hash(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
