"""CurlFetch: HTTP by libcurl, on the gevent hub."""

from __future__ import annotations

import logging
import os
import ssl
from collections.abc import Mapping
from functools import cached_property
from http import HTTPStatus
from importlib.util import find_spec
from pathlib import Path
from time import monotonic
from typing import Any, Self
from weakref import WeakSet

import gevent
import pycurl
from gevent import get_hub

from ...data import Request, Response
from ...errors import FetchError, StateError
from ...http import content_coding as coding
from .. import file_descriptors as descriptors
from ..address_guard import AddressGuard
from ..host_slots import HostSlots
from ..limits import Limits
from ..request_check import check
from ..user_agent import user_agent as default_user_agent
from .failures import fetch_error
from .handle import AllowAddress, Handle, milliseconds
from .multi import Multi

log = logging.getLogger(__name__)

#: Seconds to wait for descriptors to become free, before each further try.
_WAITS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 4.0)
#: How many descriptors there should be for each connection; one in use has two.
_SHARE = 4

#: Seconds for which the address of a name is good at least; twice that at most.
_ADDRESSES_LAST = 60

#: An option of libcurl that pycurl does not name.
_SUPPRESS_CONNECT_HEADERS = 265
_PROXY_AUTHENTICATION = HTTPStatus.PROXY_AUTHENTICATION_REQUIRED


class CurlFetch:
    """
    Fetches by libcurl: thousands at once on one hub, without a thread and unpatched.

    Connections are kept and used again, HTTP/2 is spoken to servers that offer it over
    TLS, and the only cookies and proxies are the request's own. Nothing is opened before
    the first call; after close() the next call opens it all anew.

    At most *max_connections* transfers run and connections are open at once, and with one
    host at most *max_host_connections* (0 is any number; a crawl leaves that to its
    frontier). What waits for its turn has not started its clock: libcurl's own queue
    would count the wait against the timeout, so it is never used. A process that runs out of
    file descriptors keeps to fewer connections from then on, and tries again.

    *ca_file* replaces the system's certificates. *allow_address* is asked, with the
    request, about each address before it is connected to: the proxy's where there is
    one. It runs in the hub, so it must not block. By default it is an AddressGuard, which
    lets no page lead into a private network; any_address() lets it.
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
        self._lowered = False
        self._tidied_at = monotonic()
        self._idle: list[Handle] = []
        _open_in_process.add(self)

    def trust(self, url: str) -> None:
        """Let the guard of addresses take the host of *url* for one that the user named."""
        if isinstance(self._allow_address, AddressGuard):
            self._allow_address.trust(url)

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
            # Whoever began before others were told to be fewer has nothing to say.
            if connections == multi.max_connections:
                self._be_fewer(multi)
            gevent.sleep(wait)
        return self._exchange(self._open(), request)

    def _be_fewer(self, multi: Multi) -> None:
        fewer = max(1, min(multi.max_connections // 2, descriptors.limit() // _SHARE))
        told = logging.DEBUG if self._lowered else logging.WARNING
        self._lowered = True
        log.log(
            told,
            "out of file descriptors: at most %d connections at a time instead of %d; "
            "`ulimit -n` allows %d descriptors",
            *(fewer, multi.max_connections, descriptors.limit()),
        )
        multi.lower(fewer)

    def _exchange(self, multi: Multi, request: Request) -> Response:
        handle = self._idle.pop() if self._idle else self._new_handle()
        try:
            handle.prepare(request)
            if monotonic() - self._tidied_at >= _ADDRESSES_LAST:
                self._tidied_at = monotonic()
                handle.forget_addresses(_ADDRESSES_LAST)
            if self._hosts is None:
                failure = multi.perform(handle.easy)
            else:
                with self._hosts.slot(request.url):
                    failure = multi.perform(handle.easy)
            if failure:
                raise fetch_error(failure, handle, request)
            response = handle.response()
            if request.proxy and response.status == _PROXY_AUTHENTICATION:
                raise FetchError("proxy", "the proxy wants other credentials (407)")
        except BaseException:
            handle.close()
            raise
        handle.clear()
        self._idle.append(handle)
        return response

    def close(self) -> None:
        """Fail what is in flight and close every connection."""
        multi, self._multi = self._multi, None
        if multi is not None:
            multi.close()
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
        elif multi.hub is not hub:
            raise StateError("a CurlFetch serves the thread that used it first")
        return multi

    def abandon(self) -> None:
        """Leave the connections to the process we were forked from: closing would end them."""
        if self._multi is not None:
            _abandoned.append((self._multi, self._idle))
        self._multi, self._idle = None, []

    def _new_handle(self) -> Handle:
        return Handle(self._options, self.limits, self._allow_address)

    @cached_property
    def _options(self) -> Mapping[int, Any]:
        limits = self.limits
        options: dict[int, Any] = {
            pycurl.NOSIGNAL: 1,
            pycurl.PROTOCOLS: pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS,
            pycurl.HTTP_VERSION: pycurl.CURL_HTTP_VERSION_2TLS,
            pycurl.HTTP09_ALLOWED: 0,
            pycurl.PATH_AS_IS: 1,
            pycurl.USERAGENT: self._user_agent or default_user_agent(),
            pycurl.ACCEPT_ENCODING: coding.accept_encoding(),
            pycurl.HTTP_CONTENT_DECODING: 0,
            pycurl.CONNECTTIMEOUT_MS: milliseconds(limits.connect),
            pycurl.TIMEOUT_MS: milliseconds(limits.total),
            pycurl.LOW_SPEED_LIMIT: 1,
            pycurl.LOW_SPEED_TIME: max(1, round(limits.stall)),
            pycurl.MAXFILESIZE_LARGE: limits.body,
            # Or it looks for old ones at the end of each transfer, among those of all hosts.
            pycurl.DNS_CACHE_TIMEOUT: -1,
            # No proxy from the environment, and no header of the page's for the proxy.
            pycurl.PROXY: "",
            pycurl.NOPROXY: "",
            pycurl.HEADEROPT: pycurl.HEADER_SEPARATE,
            _SUPPRESS_CONNECT_HEADERS: 1,
        }
        return options | self._trust()

    def _trust(self) -> dict[int, Any]:
        if not self._verify:
            return {pycurl.SSL_VERIFYPEER: 0, pycurl.SSL_VERIFYHOST: 0}
        authorities = os.fspath(self._ca_file) if self._ca_file else _system_authorities()
        return {pycurl.CAINFO: authorities} if authorities else {}


#: Those that may have connections, which a forked child must not touch.
_open_in_process: WeakSet[CurlFetch] = WeakSet()
_abandoned: list[object] = []


def _abandon_all() -> None:
    for fetch in _open_in_process:
        fetch.abandon()


os.register_at_fork(after_in_child=_abandon_all)


def _system_authorities() -> str | None:
    """Find the certificates to trust; the path built into the wheel suits few systems."""
    paths = [ssl.get_default_verify_paths().cafile, "/etc/ssl/certs/ca-certificates.crt"]
    if find_spec("certifi"):
        import certifi  # noqa: PLC0415 - optional

        paths.append(certifi.where())
    return next((path for path in paths if path and Path(path).is_file()), None)
