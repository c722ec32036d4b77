"""ShardCookies: the cookies of this process, as the hosts of its shards have set them."""

from __future__ import annotations

from ..http.set_cookie import Cookie
from ..job.contract import CrawlCookies
from .active_shard import ActiveShard
from .shards import ShardMap


class ShardCookies:
    """
    Keeps each cookie in the journal of the shard whose host has set it.

    So the next holder of a shard has the cookies of its hosts. A cookie for a whole domain is sent
    to its other hosts only by the processes that hold the shard of the host that has set it.
    """

    def __init__(self, shards: dict[int, ActiveShard], shard_map: ShardMap) -> None:
        self._shards = shards
        self._map = shard_map
        self._cookies: CrawlCookies | None = None

    def keep(self, cookies: CrawlCookies) -> None:
        self._cookies = cookies
        cookies.on_set = self._set

    def load(self, shard: ActiveShard) -> None:
        """Restore the cookies of a *shard* that was loaded."""
        if self._cookies is not None:
            for session, cookie in shard.journal.cookies:
                self._cookies.restore({session: [cookie.to_values()]})

    def forget(self, shard: ActiveShard) -> None:
        """Forget the cookies of a *shard* that is not ours any more: its next holder may change them."""
        if self._cookies is not None:
            for session, cookie in shard.journal.cookies:
                self._cookies.remove(session, cookie)

    def _set(self, session: str, url: str, cookie: Cookie) -> None:
        number = self._map.of(url)
        if number is not None and number in self._shards:
            self._shards[number].journal.set_cookie(session, cookie)
