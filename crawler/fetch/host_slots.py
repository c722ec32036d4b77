"""The limit of simultaneous transfers for each host."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from gevent.lock import Semaphore


class HostSlots:
    """A semaphore for each host; it exists only while a greenlet holds it or waits for it."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._hosts: dict[str, Semaphore] = {}
        self._users: dict[str, int] = {}

    @contextmanager
    def slot(self, url: str) -> Iterator[None]:
        host = url.split("/", 3)[2].lower()
        semaphore = self._hosts.setdefault(host, Semaphore(self._limit))
        self._users[host] = self._users.get(host, 0) + 1
        try:
            with semaphore:
                yield
        finally:
            self._users[host] -= 1
            if not self._users[host]:
                del self._users[host], self._hosts[host]
