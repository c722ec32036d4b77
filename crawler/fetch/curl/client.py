"""CurlFetch: HTTP by libcurl, on the gevent hub."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from functools import cached_property
from time import monotonic
from typing import Any, Self
from weakref import WeakSet

import gevent
from gevent import get_hub

from ...data import Request, Response
from ...errors import FetchError, StateError
from .. import file_descriptors as descriptors
from ..address_guard import AddressGuard, AllowAddress
from ..host_slots import HostSlots
from ..limits import Limits
from ..request_check import check, check_proxy_reply
from .failures import fetch_error
from .handle import Failure, Handle
from .kept_connections import KeptConnections
from .multi import Multi
from .name_lookup import NameLookup
from .options import tls_options, transfer_options

log = logging.getLogger(__name__)

#: Seconds to wait for free file descriptors before each further attempt.
_WAITS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 4.0)
#: File descriptors to reserve for each connection; a connection in use has two.
_SHARE = 4

#: Seconds after which the addresses of all names are looked up again.
_ADDRESSES_LAST = 60
_MOST_KNOWN = 10_000


class CurlFetch:
    """
    Fetches by libcurl: thousands at once on one hub, without threads or monkey-patching.

    Connections are kept and reused, HTTP/2 is used with servers that offer it over TLS, and
    cookies and proxies are only those of the request. Nothing is opened before the first
    call; after close() the next call opens everything again.

    At most *max_connections* transfers run and connections are open at once, and at most
    *max_host_connections* with one host (0 is unlimited; a crawl leaves this to its
    frontier). The time limits of a transfer that waits for a connection have not started:
    libcurl's own queue would count the wait as part of the timeout, so it is never used.
    When the process has no file descriptor left, the number of connections is lowered
    permanently, and the transfer is tried again.

    *ca_file* replaces the certificates of the system. *allow_address* is called, with the
    request, for each address before the connection, and before each request over a connection
    that was kept: with the address of the proxy if there is one.
    It runs in the hub, so it must not block. The default is an AddressGuard, which lets nothing
    but what the request trusts lead into a private network; any_address() permits all.
    """

    def __init__(
        self,
        *,
        limits: Limits | None = None,
        user_agent: str | None = None,
        verify: bool = True,
        ca_file: str | os.PathLike[str] | None = None,
        max_connections: int = 512,
        max_host_connections: int = 0,
        allow_address: AllowAddress | None = None,
    ) -> None:
        if max_connections < 1 or max_host_connections < 0:
            raise ValueError("max_connections must be 1 or more, max_host_connections 0 or more")
        self.limits = limits or Limits()
        self._max_connections = max_connections
        self._hosts = HostSlots(max_host_connections) if max_host_connections else None
        self._user_agent = user_agent
        self._verify = verify
        self._ca_file = ca_file
        self._allow_address = AddressGuard() if allow_address is None else allow_address
        self._multi: Multi | None = None
        self._kept = KeptConnections()
        self._names: NameLookup | None = None
        self._name_options: Mapping[str, Any] = {}
        #: The beginnings of URLs, up to the path, whose host libcurl knows.
        self._known: set[str] = set()
        self._lowered = False
        self._tidied_at = monotonic()
        self._idle: list[Handle] = []
        _open_in_process.add(self)

    def __call__(self, request: Request) -> Response:
        check(request)
        for wait in _WAITS:
            multi = self._open()
            connections = multi.max_connections
            try:
                return self._exchange(multi, request)
            except FetchError as error:
                if error.kind != "descriptors":
                    raise
            # A transfer that started before the limit was lowered must not lower it again.
            if connections == multi.max_connections:
                self._lower_limit(multi)
            gevent.sleep(wait)
        return self._exchange(self._open(), request)

    def receiving(self) -> int:
        """Return how many bytes of bodies have been received of responses that are not whole yet."""
        return 0 if self._multi is None else self._multi.receiving

    def _lower_limit(self, multi: Multi) -> None:
        lower = max(1, min(multi.max_connections // 2, descriptors.limit() // _SHARE))
        level = logging.DEBUG if self._lowered else logging.WARNING
        self._lowered = True
        log.log(
            level,
            "out of file descriptors: at most %d connections at a time instead of %d; "
            "`ulimit -n` allows %d descriptors",
            *(lower, multi.max_connections, descriptors.limit()),
        )
        multi.lower(lower)

    def _exchange(self, multi: Multi, request: Request) -> Response:
        handle = self._idle.pop() if self._idle else self._new_handle()
        try:
            handle.prepare(request)
            if monotonic() - self._tidied_at >= _ADDRESSES_LAST:
                self._forget_addresses(handle)
            site = request.url[: request.url.find("/", 8)]
            is_new = site not in self._known and not request.proxy
            if is_new:
                self._look_up(request, handle)
            if self._hosts is None:
                failure = _transfer(multi, handle)
            else:
                with self._hosts.slot(request.url):
                    failure = _transfer(multi, handle)
            if is_new:
                self._known.add(site)
            if failure and not (handle.prefix and handle.prefix.is_full):
                raise fetch_error(failure, handle, request)
            response = handle.response()
            if request.proxy:
                check_proxy_reply(response)
        except BaseException:
            handle.close()
            raise
        handle.clear()
        self._idle.append(handle)
        return response

    def _look_up(self, request: Request, handle: Handle) -> None:
        """Let libcurl know the addresses of the host, if it needs them."""
        if len(self._known) >= _MOST_KNOWN:
            self._known.clear()
        if self._names is not None:
            timeout = min(self.limits.connect, request.timeout or self.limits.total)
            handle.set_addresses(self._names.entries(request.url, timeout))

    def _forget_addresses(self, handle: Handle) -> None:
        """Let all names be looked up again; libcurl forgets the others with the next transfer."""
        self._tidied_at = monotonic()
        self._known.clear()
        handle.forget_addresses(_ADDRESSES_LAST)
        if self._names is not None:
            self._names.refresh()

    def close(self) -> None:
        """Fail the transfers in flight and close every connection."""
        multi, self._multi = self._multi, None
        names, self._names = self._names, None
        self._known.clear()
        if multi is not None:
            multi.close()
        if names is not None:
            names.close()
        while self._idle:
            self._idle.pop().close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        in_flight = len(self._multi) if self._multi is not None else 0
        return f"<CurlFetch {in_flight} in flight, {len(self._idle)} idle handles>"

    def _open(self) -> Multi:
        multi, hub = self._multi, get_hub()
        if multi is None:
            multi = self._multi = Multi(hub, self._max_connections)
            self._names = NameLookup(hub, **self._name_options)
        elif multi.hub is not hub:
            raise StateError("a CurlFetch can be used only by the thread that used it first")
        return multi

    def abandon(self) -> None:
        """Leave the connections to the parent of a forked process: closing would end them."""
        if self._multi is not None:
            self._multi.abandon()
            _abandoned.append((self._multi, self._idle))
        self._multi, self._idle = None, []
        self._known.clear()
        if self._names is not None:
            self._names.close()
            self._names = None

    def _new_handle(self) -> Handle:
        return Handle(self._options, self.limits, self._allow_address, self._kept)

    @cached_property
    def _options(self) -> Mapping[int, Any]:
        return transfer_options(self.limits, self._user_agent) | tls_options(
            verify=self._verify, ca_file=self._ca_file
        )


def _transfer(multi: Multi, handle: Handle) -> Failure | None:
    """Run the transfer, on a new connection if the kept one was not fit: nothing was sent then."""
    failure = multi.perform(handle)
    if handle.is_unfit:
        handle.connect_anew()
        failure = multi.perform(handle)
    return failure


#: The clients that may have connections, which a forked child must not touch.
_open_in_process: WeakSet[CurlFetch] = WeakSet()
_abandoned: list[object] = []


def _abandon_all() -> None:
    for fetch in _open_in_process:
        fetch.abandon()


os.register_at_fork(after_in_child=_abandon_all)
