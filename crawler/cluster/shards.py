"""ShardMap: the shard that each host belongs to; SentLinks: which links were sent to other shards."""

from __future__ import annotations

import re
from functools import lru_cache

import mmh3

from .. import url as urls
from ..errors import InvalidURL

#: The seed of the hash; part of the format.
_SEED = 0x5EED
#: A URL up to the end of its host and port: those of a site are looked up by it.
_SITE = re.compile(r"https?://[^\x00-\x20/?#\\]{1,300}/")
#: How many hosts, and sites, a process knows the shard of.
_MANY = 50_000


class ShardMap:
    """
    Assigns hosts to *shards* shards by a hash: all URLs of a host are in one shard.

    If the hosts of a domain, or of an address, share their limits, so do they their shard:
    *by_domain*.
    """

    def __init__(self, shards: int, *, by_domain: bool = False) -> None:
        self.shards = shards
        self._by_domain = by_domain
        self.of_host = lru_cache(_MANY)(self._of_host)
        self._of_site = lru_cache(_MANY)(self._of_url)

    def of(self, url: str) -> int | None:
        """Return the shard of an absolute *url*; None if it has none, because it is invalid."""
        site = _SITE.match(url)
        return self._of_site(site[0]) if site else self._of_url(url)

    def _of_url(self, url: str) -> int | None:
        try:
            return self.of_host(urls.host(url))
        except InvalidURL:
            return None

    def _of_host(self, host: str) -> int:
        name = urls.registered_domain(host) if self._by_domain else host
        return int(mmh3.hash(name, _SEED, signed=False) % self.shards)


class SentLinks:
    """
    Which links a shard has sent to others lately, each with its smallest depth.

    It belongs to one shard, and is dropped with it: what a dropped batch had sent is sent
    again. A link that is sent twice does no harm, since the receiver has seen it.
    """

    def __init__(self, most: int = 50_000) -> None:
        self._most = most
        self._new: dict[int, int] = {}
        self._old: dict[int, int] = {}

    def add(self, url: str, depth: int) -> bool:
        """Remember *url*; return whether it must be sent."""
        key = hash(url)
        known = self._new.get(key, self._old.get(key))
        if known is not None and known <= depth:
            return False
        if len(self._new) >= self._most:
            self._old, self._new = self._new, {}
        self._new[key] = depth
        return True
