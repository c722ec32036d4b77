"""GuardedSockets: opens the sockets of a transfer, to allowed addresses only."""

from __future__ import annotations

import os
from typing import Any

import pycurl
from gevent.monkey import get_original

from ...data import Request
from ..address_guard import AllowAddress, refusal
from ..file_descriptors import is_out_of_descriptors

#: Unpatched: only libcurl waits for these sockets, not the hub.
_socket = get_original("socket", "socket")
_close = get_original("os", "close")


class GuardedSockets:
    """The sockets that the transfer of *request* has opened; libcurl uses duplicates of them."""

    def __init__(self, allow_address: AllowAddress, request: Request) -> None:
        self.request = request
        self.opened: list[Any] = []
        #: Why an address was refused.
        self.blocked_address = ""
        self.out_of_descriptors = False
        self._allow_address = allow_address

    def open(self, _purpose: int, address: Any) -> Any:
        if self.is_blocked(*address.addr[:2]):
            return pycurl.SOCKET_BAD
        try:
            opened = _socket(address.family, address.socktype, address.protocol)
            self.opened.append(opened)
            # Test that a duplicate is possible: pycurl only prints this failure.
            _close(os.dup(opened.fileno()))
        except OSError as error:
            self.out_of_descriptors = is_out_of_descriptors(error)
            return pycurl.SOCKET_BAD
        return opened

    def is_blocked(self, ip: str, port: int) -> bool:
        reason = refusal(self._allow_address, ip, port, self.request)
        self.blocked_address = reason or self.blocked_address
        return bool(reason)

    def close(self) -> None:
        while self.opened:
            self.opened.pop().close()
