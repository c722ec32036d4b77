"""BodyPrefix: the start of a body, for requests that need no more of it."""

from __future__ import annotations

from collections.abc import Callable

from ..errors import FetchError
from ..http import content_coding as coding

#: Bytes of a coded body that may precede those that have been decoded from it.
_CODING_DATA = 64 * 1024


class BodyPrefix:
    """The first *size* bytes of a decoded body, and how much of the body is needed for them."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._taken = 0
        #: Whether decoded() has left out a part of the body.
        self.is_cut = False

    @property
    def is_full(self) -> bool:
        """Whether no more of the body is needed."""
        return self._taken >= self._size + _CODING_DATA

    def take(self, chunk: bytes) -> bool:
        """Count *chunk*, which has arrived; return whether more is needed."""
        self._taken += len(chunk)
        return not self.is_full

    def writer(self, add: Callable[[bytes], object]) -> Callable[[bytes], int | None]:
        """Return a function by which libcurl will *add* what is needed, and then ends."""

        def write(chunk: bytes) -> int | None:
            add(chunk)
            return None if self.take(chunk) else 0  # less than has come: an error to libcurl

        return write

    def decoded(self, body: bytes, content_encoding: str) -> bytes:
        """Return the start of *body*, decoded; a body that itself ends too early is an error."""
        if not self.is_full:
            try:
                whole = coding.decode(body, content_encoding, self._size)
            except FetchError as error:
                if error.kind != "too_large":
                    raise
            else:
                if len(whole) <= self._size:
                    return whole
        self.is_cut = True
        return coding.decode(body, content_encoding, self._size, whole=False)
