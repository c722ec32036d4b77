"""ShardMap: the shard that each host belongs to, and which links of a page belong to which shard."""

from __future__ import annotations

import re
from functools import lru_cache

import mmh3

from .. import url as urls
from ..data import Links
from ..errors import InvalidURL
from ..url import resolve_or_keep

#: The seed of the hash; part of the format.
_SEED = 0x5EED
#: The start of an absolute URL whose host is plain to see.
_ABSOLUTE = re.compile(r"https?://[a-z0-9.-]+(?=[:/?#]|\Z)")
#: A relative link that cannot lead to another host.
_RELATIVE = re.compile(r"(?:/(?=[A-Za-z0-9_%.~?#-]|\Z)|[?#]|[A-Za-z0-9_.-]+(?=[/?#]|\Z))")


class ShardMap:
    """
    Assigns hosts to *shards* shards by a hash: all URLs of a host are in one shard.

    If the hosts of a domain, or of an address, share their limits, so do they their shard:
    *by_domain*.
    """

    def __init__(self, shards: int, *, by_domain: bool = False) -> None:
        self.shards = shards
        self._by_domain = by_domain
        self._of_start = lru_cache(50_000)(self._of_host_of)

    def of(self, url: str) -> int | None:
        """Return the shard of an absolute *url*; None if it has none, because it is invalid."""
        try:
            return self.of_host(urls.host(url))
        except InvalidURL:
            return None

    def of_host(self, host: str) -> int:
        name = urls.registered_domain(host) if self._by_domain else host
        return int(mmh3.hash(name, _SEED, signed=False) % self.shards)

    def split(self, links: Links) -> dict[int | None, list[str]]:
        """Return the URLs of *links* by their shards; those of another shard than the page's resolved."""
        base = self.of(links.found_on)
        found: dict[int | None, list[str]] = {}
        for href in links.urls:
            if _RELATIVE.match(href):
                shard = base
            elif plain := _ABSOLUTE.match(href):
                shard = self._of_start(plain[0])
            else:
                shard = self.of(resolve_or_keep(links.found_on, href))
            found.setdefault(shard, []).append(href)
        return found

    def _of_host_of(self, start: str) -> int | None:
        return self.of(start)


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
