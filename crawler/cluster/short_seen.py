"""ShortSeen: what was seen in a shard, by the first bytes of fingerprints."""

from __future__ import annotations

from collections.abc import Sequence

from ..frontier.admission.seen import Seen

#: Bytes of a fingerprint that Redis holds: among a million URLs of a shard two are taken for one
#: with a chance of 1 to 30 million.
SHORT = 8


class ShortSeen:
    """
    Implements Seen: only the first SHORT bytes of each key count.

    A scheduler that loads a shard has no more of the keys than that. *seen* gets each of them twice, as
    a key of full length.
    """

    def __init__(self, seen: Seen) -> None:
        self._seen = seen

    def add(self, key: bytes) -> bool:
        return self._seen.add(key[:SHORT] * 2)

    def __contains__(self, key: bytes) -> bool:
        return key[:SHORT] * 2 in self._seen

    def update(self, keys: Sequence[bytes]) -> None:
        self._seen.update([key[:SHORT] * 2 for key in keys])

    def __len__(self) -> int:
        return len(self._seen)


def split(keys: bytes) -> list[bytes]:
    """Return the keys of SHORT bytes that stand one behind the other in *keys*."""
    return [keys[start : start + SHORT] for start in range(0, len(keys), SHORT)]
