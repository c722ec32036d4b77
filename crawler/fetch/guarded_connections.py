"""Connections of urllib3 that check the address they reach: what SessionFetch adds to a session."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any

from urllib3 import HTTPConnectionPool, PoolManager
from urllib3.connection import HTTPConnection
from urllib3.exceptions import HTTPError, NewConnectionError

from ..data import Request
from ..errors import FetchError
from .address_guard import AllowAddress, refusal

#: The request that this greenlet fetches, and what decides about addresses; None outside of a
#: SessionFetch, where the session connects as it always did.
_fetched: ContextVar[tuple[AllowAddress, Request] | None] = ContextVar("_fetched", default=None)


@contextmanager
def guarded(adapter: object, allow_address: AllowAddress, request: Request) -> Iterator[None]:
    """Return a context in which *adapter* connects only to addresses allowed to *request*."""
    _guard(adapter)
    token = _fetched.set((allow_address, request))
    try:
        yield
    finally:
        _fetched.reset(token)


def _guard(adapter: object) -> None:
    """Let the pools of *adapter* make guarded connections; those it has open are closed."""
    manager: Any = getattr(adapter, "poolmanager", None)
    pools: dict[str, Any] = {}
    if isinstance(manager, PoolManager):
        pools = manager.pool_classes_by_scheme
    connections = [pool.ConnectionCls for pool in pools.values()]
    if not connections or not all(issubclass(each, HTTPConnection) for each in connections):
        raise FetchError(
            "blocked_address",
            f"the addresses that {type(adapter).__name__} connects to cannot be checked: "
            "give SessionFetch an allow_address of any_address to use it all the same",
        )
    if not all(issubclass(each, _Guarded) for each in connections):
        manager.pool_classes_by_scheme = {name: _with_guard(pool) for name, pool in pools.items()}
        manager.clear()


@cache
def _with_guard(pool: type[HTTPConnectionPool]) -> type[HTTPConnectionPool]:
    """Return a class of pools like *pool*, with guarded connections."""
    connection = type(pool.ConnectionCls.__name__, (_Guarded, pool.ConnectionCls), {})
    return type(pool.__name__, (pool,), {"ConnectionCls": connection})


class _Guarded(HTTPConnection):
    """Checks addresses before it connects to one, and before each request over a kept connection."""

    def _new_conn(self) -> socket.socket:
        if self._fetched is None:
            return super()._new_conn()
        name, failure = self._dns_host, None
        try:
            for ip in self._allowed_ips():
                self.host = ip
                try:
                    return self._checked(super()._new_conn())
                except HTTPError as error:
                    failure = error
        finally:
            self.host = name
        raise failure or NewConnectionError(self, f"{name} has no address")

    def putrequest(self, *args: Any, **options: Any) -> None:
        if self.sock is not None:
            self._checked(self.sock)
        super().putrequest(*args, **options)

    @property
    def _fetched(self) -> tuple[AllowAddress, Request] | None:
        """What to check; None for a proxy, which the user has chosen."""
        return _fetched.get() if self.proxy is None else None

    def _allowed_ips(self) -> list[str]:
        """Return the addresses of the host that are allowed; raise FetchError if none is."""
        try:
            found = socket.getaddrinfo(
                self._dns_host.strip("[]"), self.port, type=socket.SOCK_STREAM
            )
        except socket.gaierror as error:
            raise NewConnectionError(self, f"no address of {self.host}: {error}") from error
        reasons = {str(entry[4][0]): self._refusal(entry[4]) for entry in found}
        allowed = [ip for ip, reason in reasons.items() if not reason]
        if reasons and not allowed:
            raise FetchError("blocked_address", next(iter(reasons.values())))
        return allowed

    def _checked(self, connected: socket.socket) -> socket.socket:
        """Return *connected*; close it and raise FetchError if its address is refused."""
        if reason := self._refusal(connected.getpeername()):
            connected.close()
            self.close()
            raise FetchError("blocked_address", reason)
        return connected

    def _refusal(self, address: Any) -> str:
        if self._fetched is None:
            return ""
        allow_address, request = self._fetched
        ip, port = address[:2] if isinstance(address, tuple) else (str(address), 0)
        return refusal(allow_address, ip, port, request)
