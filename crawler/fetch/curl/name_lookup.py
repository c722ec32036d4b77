"""NameLookup: the addresses of hosts, by c-ares on the hub."""

from __future__ import annotations

import socket
from collections.abc import Iterable
from importlib.util import find_spec
from typing import Any

import gevent
from gevent.event import AsyncResult
from gevent.hub import Hub
from gevent.monkey import get_original

from ... import url as urls
from ...errors import FetchError
from ..file_descriptors import none_left

#: All wheels of gevent have c-ares; with a build that has not, libcurl looks up all names.
_HAS_CARES = find_spec("gevent.resolver.cares") is not None
#: Names that only the system knows, and those that libcurl knows itself.
_OF_THE_SYSTEM = (".local", ".localhost")
#: Number of queries for a name: the first waits for a quarter of a second to two seconds for an
#: answer, as the server has answered so far, and each further one twice as long.
_TRIES = 5
#: More addresses of one name are not tried.
_MOST_ADDRESSES = 16
#: An address that a machine with a route to the whole of IPv6 has a route to.
_SOMEWHERE = ("2001:db8::1", 53)
_socket = get_original("socket", "socket")


class NameLookup:
    """
    Looks up any number of names at once, so that no name waits for one that nobody answers for.

    libcurl does this in a few threads, which such names can hold. It still looks up names
    without a dot and those in ``.local``: the system may know them by other means than
    /etc/hosts and name servers. And it looks up all names on libuv, where gevent's c-ares
    crashes when it is closed.
    """

    def __init__(self, hub: Hub, **options: Any) -> None:
        self._loop = hub.loop
        self._is_able = _HAS_CARES and "libev" in type(hub.loop).__module__
        self._options = {"tries": _TRIES, **options}
        self._channel: Any = None
        self._is_closed = False
        self._has_ipv6 = False
        self._pending: dict[str, AsyncResult[Any]] = {}

    def entries(self, url: str, timeout: float) -> list[str]:
        """
        Return what to add to libcurl's cache of names for *url*; nothing if it needs no lookup.

        Raise FetchError if the name has no address or nobody answers within *timeout* seconds.
        """
        try:
            host, port = urls.host(url), urls.port(url)
        except ValueError:
            return []
        if not (self._is_able and _is_looked_up(host)):
            return []
        addresses = ",".join(self._addresses(host, timeout))
        # libcurl knows a name with a final dot as another one.
        return [f"+{host}{dot}:{port}:{addresses}" for dot in ("", ".")]

    def refresh(self) -> None:
        """Read the configuration of the system again before the next lookup."""
        if not self._pending:
            self._end_channel()

    def close(self) -> None:
        """Fail the lookups that are pending."""
        self._is_closed = True
        self._end_channel()

    def _end_channel(self) -> None:
        if self._channel is not None:
            self._loop.run_callback(self._channel.destroy)  # not from one of its own callbacks
            self._channel = None

    def _addresses(self, host: str, timeout: float) -> Iterable[str]:
        answer = self._pending.get(host)
        if answer is None:
            answer = self._ask(host)
        answer.wait(timeout)
        if not answer.ready():
            gevent.sleep(0)  # it may have come while the hub did not run
        if not answer.ready():
            raise FetchError("dns", f"no answer for {host} within {timeout:g} s")
        if answer.exception is not None:
            raise self._error(host, answer.exception)
        return self._chosen(host, answer.value or [])

    def _ask(self, host: str) -> AsyncResult[Any]:
        if self._channel is None:
            from gevent.resolver.cares import channel  # noqa: PLC0415 - not in every build

            self._channel = channel(self._loop, **self._options)
            self._has_ipv6 = _has_ipv6()
        answer: AsyncResult[Any] = AsyncResult()
        self._channel.getaddrinfo(
            answer, host.encode(), None, socket.AF_UNSPEC, socket.SOCK_STREAM, 0, 0
        )
        if not answer.ready():
            self._pending[host] = answer
            answer.rawlink(lambda _: self._pending.pop(host, None))
        return answer

    def _chosen(self, host: str, found: Iterable[Any]) -> list[str]:
        """Return the addresses to try, those of IPv6 first if the machine has a route to them."""
        by_family: dict[int, list[str]] = {socket.AF_INET6: [], socket.AF_INET: []}
        for family, _, _, _, address in found:
            by_family[family].append(address[0])
        ipv6, ipv4 = by_family.values()
        ipv6 = [f"[{address}]" for address in ipv6 if self._has_ipv6 or not ipv4]
        if not (ipv6 or ipv4):
            raise FetchError("dns", f"{host} has no address")
        return [*ipv6[:_MOST_ADDRESSES], *ipv4[:_MOST_ADDRESSES]]

    def _error(self, host: str, error: BaseException) -> FetchError:
        if self._is_closed:
            return FetchError("network", "the fetcher was closed")
        if none_left():
            return FetchError("descriptors", "this process has no file descriptor left")
        return FetchError("dns", f"{host}: {str(error.args[-1]).rpartition(': ')[2]}")


def _is_looked_up(host: str) -> bool:
    return "." in host and not (urls.is_address(host) or host.endswith(_OF_THE_SYSTEM))


def _has_ipv6() -> bool:
    """Return whether this machine has a route to IPv6; nothing is sent."""
    try:
        with _socket(socket.AF_INET6, socket.SOCK_DGRAM) as probe:
            probe.connect(_SOMEWHERE)
    except OSError:
        return False
    return True
