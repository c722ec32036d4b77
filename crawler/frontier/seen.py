"""Which requests have been met before."""

from __future__ import annotations

import mmh3

from ..data import Request


def fingerprint(request: Request, canonical: str) -> bytes:
    """
    Return 16 bytes that stand for what *request* asks for.

    Each part is preceded by its length, so that no two different requests run together.
    """
    url = canonical.encode("utf-8", "surrogatepass")
    head = f"{request.method} {len(url)} ".encode()
    return mmh3.mmh3_x64_128_digest(head + url + request.body)


class ExactSeen:
    """Remembers every key: no mistakes, about 100 bytes each."""

    def __init__(self) -> None:
        self._keys: set[bytes] = set()

    def add(self, key: bytes) -> bool:
        """Remember *key* and say if it was new, in one step."""
        before = len(self._keys)
        self._keys.add(key)
        return len(self._keys) > before

    def __len__(self) -> int:
        return len(self._keys)
