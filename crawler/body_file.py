"""BodyFile: the body of a response on its way to a file."""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import gevent

from .data import Request, Response, SavedBody
from .errors import FetchError
from .http import content_coding as coding
from .http.media_types import extension_of

#: Bytes that are collected before they are written, and that are decoded at a time.
_BUFFER = 256 * 1024
_OWN_FILES = Path("/proc/self/fd")
_NO_DESCRIPTORS = frozenset({errno.EMFILE, errno.ENFILE})


def is_saved(request: Request, status: int) -> bool:
    """
    Return whether a body with *status* goes to the file that *request* names.

    A part of a file (206) that was not asked for is not the file.
    """
    is_part = status == 206 and "range" not in request.headers
    is_success = 200 <= status < 300 and not is_part
    return request.save_to is not None and is_success and request.method != "HEAD"


def saved(response: Response) -> Response:
    """Return *response* with its body in the file that its request names, if it names one."""
    target = response.request.save_to
    if target is None or response.saved or not is_saved(response.request, response.status):
        return response
    file = BodyFile(target, len(response.body))
    file.write(response.body)
    body = file.save("", response.headers.get("content-type", ""))
    return response.replace(body=b"", saved=body)


class BodyFile:
    """
    Receives a body, as sent, and gives it its name when it is whole, decoded and on the disk.

    *target* is the name of the file. If it ends in a slash, or is a directory, the file is named
    there by the SHA-256 of its content, and by an extension for its media type: nothing that a
    server has sent becomes part of a name. *max_size* limits the body as received, and again as
    decoded.

    FetchError of the kind "disk" means that the file cannot be written.
    """

    def __init__(self, target: str, max_size: int) -> None:
        self._target = target
        self._max_size = max_size
        self._is_directory = target.endswith("/") or Path(target).is_dir()
        self._directory = Path(target) if self._is_directory else Path(target).parent
        try:
            self._directory.mkdir(parents=True, exist_ok=True)
            self._draft: _Draft | None = _Draft(self._directory)
        except OSError as error:
            raise self._failure(error) from error

    def write(self, piece: bytes) -> None:
        if self._draft is None:
            raise ValueError("the file has been saved or discarded")
        coding.check_body_size(self._draft.size + len(piece), self._max_size)
        try:
            self._draft.write(piece)
        except OSError as error:
            raise self._failure(error) from error

    def save(self, content_encoding: str, content_type: str) -> SavedBody:
        """
        Decode the body, write it to the disk and name it; other greenlets run meanwhile.

        A greenlet that is killed here may leave the file: it is whole then.
        """
        draft, self._draft = self._draft, None
        if draft is None:
            raise ValueError("the file has been saved or discarded")
        pool = gevent.get_hub().threadpool
        # A thread must not raise what the hub would print.
        result = pool.apply(self._save_or_fail, (draft, content_encoding, content_type))
        if isinstance(result, Exception):
            raise self._failure(result) if isinstance(result, OSError) else result
        return result

    def discard(self) -> None:
        """Remove what was received, unless it was saved."""
        if self._draft is not None:
            self._draft.close()
            self._draft = None

    def _save_or_fail(
        self, draft: _Draft, content_encoding: str, content_type: str
    ) -> SavedBody | Exception:
        try:
            if content_encoding:
                draft = self._decoded(draft, content_encoding)
            digest = draft.digest.hexdigest()
            name = (
                digest + extension_of(content_type)
                if self._is_directory
                else Path(self._target).name
            )
            draft.publish(name)
            return SavedBody(str(self._directory / name), draft.size, digest)
        except Exception as error:
            return error
        finally:
            draft.close()

    def _decoded(self, draft: _Draft, content_encoding: str) -> _Draft:
        """Return a draft of the decoded body, in place of *draft*."""
        plain = _Draft(self._directory)
        try:
            for piece in coding.decoded(
                draft.pieces(), content_encoding, self._max_size, at_once=_BUFFER
            ):
                plain.write(piece)
        except BaseException:
            plain.close()
            raise
        finally:
            draft.close()
        return plain

    def _failure(self, error: OSError) -> FetchError:
        kind = "descriptors" if error.errno in _NO_DESCRIPTORS else "disk"
        return FetchError(kind, f"cannot save to {self._target}: {error.strerror or error}")


class _Draft:
    """
    A file in *directory* that is not published yet, with its size and hash.

    Where the system allows, it has no name: whatever ends the process, nothing is left of it.
    Elsewhere it has a hidden name that ends in ".part".
    """

    def __init__(self, directory: Path) -> None:
        self.size = 0
        self.digest = hashlib.sha256()
        self._directory = directory
        self._hidden: Path | None = None
        self._file = open(self._descriptor(), "w+b", _BUFFER)  # noqa: SIM115, PTH123

    def _descriptor(self) -> int:
        if hasattr(os, "O_TMPFILE") and _OWN_FILES.is_dir():
            with suppress(OSError):  # not every file system has files without a name
                return os.open(self._directory, os.O_TMPFILE | os.O_RDWR, 0o666)
        self._hidden = self._new_name()
        return os.open(self._hidden, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)

    def write(self, piece: bytes) -> None:
        self._file.write(piece)
        self.digest.update(piece)
        self.size += len(piece)

    def pieces(self) -> Iterator[bytes]:
        """Yield all that was written."""
        self._file.seek(0)
        while piece := self._file.read(_BUFFER):
            yield piece

    def publish(self, name: str) -> None:
        """Write all to the disk, and give the file its *name*, in place of one that had it."""
        self._file.flush()
        os.fsync(self._file.fileno())
        directory = os.open(self._directory, os.O_RDONLY)
        try:
            if self._hidden is None:
                self._link(name, directory)
            if self._hidden is not None:
                self._hidden.replace(self._directory / name)
                self._hidden = None
            os.fsync(directory)
        finally:
            os.close(directory)

    def close(self) -> None:
        """Remove the file, unless it was published."""
        with suppress(OSError):  # a buffer that a full disk does not take
            self._file.close()
        if self._hidden is not None:
            self._hidden.unlink(missing_ok=True)
            self._hidden = None

    def _link(self, name: str, directory: int) -> None:
        """Name the file in *directory*, a descriptor; if there is one of that name, hide this one."""
        own = f"{_OWN_FILES}/{self._file.fileno()}"
        try:
            os.link(own, name, dst_dir_fd=directory)
        except FileExistsError:
            hidden = self._new_name()
            os.link(own, hidden.name, dst_dir_fd=directory)
            self._hidden = hidden

    def _new_name(self) -> Path:
        return self._directory / f".{secrets.token_hex(8)}.part"
