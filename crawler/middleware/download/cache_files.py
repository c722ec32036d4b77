"""CacheFiles: responses on disk, one file for each, whole or not at all."""

from __future__ import annotations

import json
import logging
import os
import tempfile
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from ...headers import Headers

log = logging.getLogger(__name__)

_FORMAT = b"crawler-cache-1"


@dataclass(frozen=True, slots=True)
class StoredResponse:
    """
    A response and the time at which it was *received*, after *delay* seconds of exchange.

    *variant* is a digest of the request fields by which the response varies.
    """

    status: int
    headers: Headers
    body: bytes
    received: float
    delay: float
    variant: str


class CacheFiles:
    """
    Keeps responses in files of *directory*, named by the hash of their key.

    A file has three parts: a line with the format and a digest of the rest, a line of JSON,
    and the body. It is written under another name and renamed, so it is never incomplete. A
    file that was damaged later is detected by its digest, ignored and counted.
    """

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self.directory = Path(directory)
        self.damaged = 0
        #: The number of files that could not be written or removed.
        self.failed = 0

    def get(self, key: str) -> StoredResponse | None:
        path = self._path(key)
        try:
            return _read(path.read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            self.damaged += 1
            log.warning("ignored %s, which is damaged: %s", path, error)
            return None

    def put(self, key: str, stored: StoredResponse) -> None:
        """Write *stored*; if the disk is full only this copy is lost, not the page."""
        path = self._path(key)
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            _write(path, _written(stored))
        except OSError as error:
            self.failed += 1
            log.warning("could not write %s: %s", path, error)

    def remove(self, key: str) -> None:
        try:
            self._path(key).unlink(missing_ok=True)
        except OSError as error:
            self.failed += 1
            log.warning("could not remove %s: %s", self._path(key), error)

    def _path(self, key: str) -> Path:
        name = digest(key.encode())
        return self.directory / name[:2] / name[2:]


def digest(content: bytes) -> str:
    return blake2b(content, digest_size=20).hexdigest()


def _written(stored: StoredResponse) -> bytes:
    fields = {
        "status": stored.status,
        "received": stored.received,
        "delay": stored.delay,
        "variant": stored.variant,
        "headers": stored.headers.fields,
    }
    content = json.dumps(fields).encode() + b"\n" + stored.body
    return b"%s %s\n%s" % (_FORMAT, digest(content).encode(), content)


def _read(file: bytes) -> StoredResponse:
    mark, _, content = file.partition(b"\n")
    if mark != b"%s %s" % (_FORMAT, digest(content).encode()):
        raise ValueError("its digest does not match its content")
    line, _, body = content.partition(b"\n")
    fields: dict[str, Any] = json.loads(line)
    headers = Headers([(name, value) for name, value in fields["headers"]])
    return StoredResponse(
        fields["status"], headers, body, fields["received"], fields["delay"], fields["variant"]
    )


def _write(path: Path, content: bytes) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
