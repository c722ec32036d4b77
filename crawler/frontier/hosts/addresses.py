"""Addresses: which hosts are one machine."""

from __future__ import annotations

from collections.abc import Callable

from gevent.pool import Group
from gevent.socket import getaddrinfo

from .host import Address, Host


class Addresses:
    """Looks up the address of a host, so that hosts which share one can share its limits."""

    def __init__(self, found: Callable[[Host], None]) -> None:
        self._found = found
        self._known: dict[str, Address] = {}
        self._lookups = Group()

    def look_up(self, host: Host) -> None:
        """Set the address of *host*, then tell that it is *found*."""
        self._lookups.spawn(self._look_up, host)

    def close(self) -> None:
        self._lookups.kill(block=False)
        # The frontier is freed at once when nobody holds it: its filter is large.
        self._found = _ignore

    def _look_up(self, host: Host) -> None:
        try:
            ip = str(getaddrinfo(host.name, None)[0][4][0])
        except OSError:
            ip = ""  # its fetch will fail; until then it is on its own
        if ip:
            host.address = self._known.setdefault(ip, Address())
        self._found(host)


def _ignore(_host: Host) -> None:
    pass
