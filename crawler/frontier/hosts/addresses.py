"""Addresses: looks up the IP addresses of hosts."""

from __future__ import annotations

from collections.abc import Callable
from weakref import WeakValueDictionary

from gevent.pool import Group
from gevent.socket import getaddrinfo

from .host import Address, Host


class Addresses:
    """Looks up the IP address of each host, so that hosts of one address can share its limits."""

    def __init__(self, found: Callable[[Host], None]) -> None:
        self._found = found
        #: Those of the hosts that are known.
        self._known: WeakValueDictionary[str, Address] = WeakValueDictionary()
        self._lookups = Group()

    def look_up(self, host: Host) -> None:
        """Set the address of *host* in a greenlet, then call *found*, also if there is none."""
        self._lookups.spawn(self._look_up, host)

    def close(self) -> None:
        self._lookups.kill(block=False)
        # Without this reference the frontier, whose filter is large, is freed at once.
        self._found = _ignore

    def _look_up(self, host: Host) -> None:
        try:
            ip = str(getaddrinfo(host.name, None)[0][4][0])
        except OSError:
            ip = ""  # its fetch will fail; until then it shares no limits
        if ip:
            host.address = self._known.setdefault(ip, Address())
        self._found(host)


def _ignore(_host: Host) -> None:
    pass
