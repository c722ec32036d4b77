"""FileReceiver: where libcurl puts the body of a reply to a request that names a file."""

from __future__ import annotations

from collections.abc import Callable

from ..body_file import BodyFile, is_saved
from ..data import Request, SavedBody
from ..errors import FetchError
from ..headers import Headers
from ..http import content_coding as coding
from .limits import Limits


class FileReceiver:
    """
    Writes the body to the file that *request* names, if the reply is successful.

    Otherwise the body goes to *add*. *lines* has the header lines of the reply when its body begins.
    """

    def __init__(
        self,
        request: Request,
        limits: Limits,
        lines: list[bytes],
        add: Callable[[bytes], object],
    ) -> None:
        #: Why write() has ended the transfer.
        self.failure: FetchError | None = None
        self._request = request
        self._limits = limits
        self._lines = lines
        self._add = add
        self._file: BodyFile | None = None
        self._size = 0

    def write(self, chunk: bytes) -> int | None:
        """Take *chunk*; 0, less than has come, is an error to libcurl."""
        try:
            self._take(chunk)
        except FetchError as error:
            self.failure = error
            return 0
        return None

    def save(self, status: int, headers: Headers) -> SavedBody | None:
        """Return the file of the whole body; None if *status* was not successful."""
        if not is_saved(self._request, status):
            return None
        file = self._file or self._new_file()
        return file.save(headers.get("content-encoding", ""), headers.get("content-type", ""))

    def discard(self) -> None:
        if self._file is not None:
            self._file.discard()

    def _take(self, chunk: bytes) -> None:
        if not self._size and is_saved(self._request, _status(self._lines)):
            self._new_file()
        self._size += len(chunk)
        if self._file is not None:
            self._file.write(chunk)
        else:
            coding.check_body_size(self._size, self._limits.body)
            self._add(chunk)

    def _new_file(self) -> BodyFile:
        self._file = BodyFile(str(self._request.save_to), self._limits.file)
        return self._file


def _status(lines: list[bytes]) -> int:
    """Return the status of the last reply in *lines*."""
    code = next(line for line in reversed(lines) if line.startswith(b"HTTP/")).split()[1]
    return int(code)
