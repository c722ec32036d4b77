"""KeptConnections: whether a connection that libcurl keeps is fit for the next request."""

from __future__ import annotations

import os
import select
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeAlias

import pycurl
from gevent.monkey import get_original

#: The address of the server, our own, and the two ports: all that libcurl tells before a request.
Connection: TypeAlias = "tuple[str, str, int, int]"

_ADDRESSES = (pycurl.PRIMARY_IP, pycurl.LOCAL_IP, pycurl.PRIMARY_PORT, pycurl.LOCAL_PORT)
_HAS_ENDED = getattr(select, "POLLRDHUP", 0)
#: Unpatched: it is asked what is there now, and never waits.
_poll = get_original("select", "poll")
_socket = get_original("socket", "socket")


class KeptConnections:
    """
    Knows the connections that can be reused, by their addresses.

    A server owes nothing on a kept connection of HTTP/1. What it has sent there would be taken
    for the reply to the next request, and libcurl looks at most once a second. HTTP/2 numbers
    its replies and has messages of its own, so only its end matters; but libcurl keeps its
    connections even after the server has broken the rules. There are never more entries than
    descriptors; one that is outdated costs at worst a new connection.
    """

    def __init__(self) -> None:
        self._polls: dict[Connection, Callable[[int], list[Any]]] = {}
        self._by_descriptor: dict[int, Connection] = {}

    def add(self, easy: pycurl.Curl, *, is_broken: bool = False) -> None:
        """Add the connection that *easy* has used, unless it is closed; end it if it *is_broken*."""
        descriptor = easy.getinfo(pycurl.ACTIVESOCKET)
        if descriptor < 0:
            return
        self._polls.pop(self._by_descriptor.get(descriptor), None)  # type: ignore[arg-type]
        poll = _poll()
        is_first = easy.getinfo(pycurl.INFO_HTTP_VERSION) < pycurl.CURL_HTTP_VERSION_2_0
        poll.register(descriptor, _HAS_ENDED | (select.POLLIN if is_first else 0))
        connection: Connection = tuple(map(easy.getinfo, _ADDRESSES))
        self._by_descriptor[descriptor] = connection
        self._polls[connection] = poll.poll
        if is_broken:
            _end(descriptor)

    def is_fit(self, connection: Connection) -> bool:
        """Return whether *connection* can be used for a request."""
        poll = self._polls.get(connection)
        return poll is None or not poll(0)


def _end(descriptor: int) -> None:
    """End a connection that libcurl has open, so that it is found dead."""
    with suppress(OSError), _socket(fileno=os.dup(descriptor)) as duplicate:
        duplicate.shutdown(socket.SHUT_RDWR)
