"""Proxy: the network between a scheduler and its server, which can be cut in several ways."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import gevent
from gevent import socket
from gevent.event import Event
from gevent.pool import Group
from gevent.server import StreamServer

_CHUNK = 65536


class Proxy:
    """
    Passes what arrives at a port of this machine on to the unix socket at *path*.

    cut() closes all connections and refuses new ones; hold() keeps what goes one way: nothing
    is lost, and nothing arrives. restore() ends both.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._is_cut = False
        #: Set while commands, and replies, are passed on.
        self._flows = {"commands": Event(), "replies": Event()}
        self._links = Group()
        self._server = StreamServer(("127.0.0.1", 0), self._accept)
        self.restore()

    def start(self) -> str:
        """Begin; return the URL that leads through here."""
        self._server.start()
        return f"redis://127.0.0.1:{self._server.server_port}"

    def stop(self) -> None:
        self._server.stop()
        self._links.kill()

    def cut(self) -> None:
        self._is_cut = True
        self._links.kill()

    def hold(self, what: str) -> None:
        """Keep "commands" or "replies" back."""
        self._flows[what].clear()

    def restore(self) -> None:
        self._is_cut = False
        for flow in self._flows.values():
            flow.set()

    def _accept(self, client: Any, _address: Any) -> None:
        server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            if self._is_cut or server.connect_ex(self._path):
                return
            there = self._links.spawn(self._pass, client, server, self._flows["commands"])
            back = self._links.spawn(self._pass, server, client, self._flows["replies"])
            gevent.joinall([there, back])
        finally:
            server.close()
            client.close()

    def _pass(self, source: Any, target: Any, flow: Event) -> None:
        receive: Callable[[int], bytes] = source.recv
        try:
            with suppress(OSError):
                while data := receive(_CHUNK):
                    flow.wait()
                    target.sendall(data)
        finally:
            for end in (source, target):
                with suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)
