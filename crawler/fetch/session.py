"""SessionFetch: HTTP by a requests.Session of the user."""

from __future__ import annotations

import http.client
import socket
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from io import BytesIO
from itertools import chain
from typing import TYPE_CHECKING, Any

import gevent

from ..body_file import BodyFile, is_saved
from ..data import BODY_PREFIX, Request, Response, SavedBody
from ..errors import FetchError
from ..headers import Headers
from ..http import content_coding as coding
from .address_guard import AddressGuard, AllowAddress, any_address
from .body_prefix import BodyPrefix
from .file_descriptors import is_out_of_descriptors
from .limits import Limits
from .request_check import check, check_proxy_reply
from .user_agent import user_agent

if TYPE_CHECKING:
    import requests

#: http.client has no exception class for this error, only this message.
_TOO_MANY_HEADERS = f"got more than {http.client._MAXHEADERS} headers"  # type: ignore[attr-defined]  # noqa: SLF001


class SessionFetch:
    """
    Fetches by a requests.Session: with its adapters, authentication, cookies and certificates.

    The session belongs to the user: it stays open, and its cookie jar works as usual. If
    gevent has patched the sockets, many greenlets may share it (mount an adapter with a large
    enough pool), and the total time is a hard limit; otherwise it is checked between reads.
    http.client treats the end of a connection as the end of the headers; only CurlFetch
    distinguishes them.

    *allow_address* is as for CurlFetch, and by default an AddressGuard, too. It applies to the
    requests of this fetcher, not to other uses of the session. It is for adapters that connect by
    the pool manager of an HTTPAdapter, as those do that extend it; requests for other adapters
    fail, unless *allow_address* is any_address. What goes through a proxy is not checked.
    """

    def __init__(
        self,
        session: requests.Session,
        *,
        limits: Limits | None = None,
        allow_address: AllowAddress | None = None,
    ) -> None:
        self.limits = limits or Limits()
        self._session = session
        self._allow_address = AddressGuard() if allow_address is None else allow_address

    def __call__(self, request: Request) -> Response:
        check(request)
        usual = self.limits.total if request.save_to is None else self.limits.file_total
        timeout = request.timeout or usual
        timer = gevent.Timeout(timeout)
        try:
            with timer, self._guarded(request):
                response = _Exchange(self._session, request, self.limits, timeout).run()
        except gevent.Timeout as expired:
            if expired is not timer:
                raise
            raise _expired(timeout) from None
        if request.proxy:
            check_proxy_reply(response)
        return response

    def _guarded(self, request: Request) -> AbstractContextManager[None]:
        """Return a context in which the session connects only to addresses that are allowed."""
        if self._allow_address is any_address:
            return nullcontext()
        from .guarded_connections import guarded  # noqa: PLC0415 - requests is optional

        with _fetch_errors("bad_request"):
            adapter = self._session.get_adapter(request.url)
        return guarded(adapter, self._allow_address, request)

    def __repr__(self) -> str:
        return f"<SessionFetch {self._session!r}>"


class _Exchange:
    """One request and its response."""

    def __init__(
        self, session: requests.Session, request: Request, limits: Limits, timeout: float
    ) -> None:
        self._session = session
        self._request = request
        self._limits = limits
        self._timeout = timeout
        self._began = time.monotonic()
        size = request.meta.get(BODY_PREFIX)
        self._prefix = None if size is None else BodyPrefix(size)
        self._saved: SavedBody | None = None
        #: When the body began.
        self._answered = self._began

    def run(self) -> Response:
        with _fetch_errors("network"):
            reply = self._send()
        if not reply._content_consumed:  # noqa: SLF001 - a hook of the user has sent it again
            self._read(reply)
        elapsed = (self._answered if self._saved else time.monotonic()) - self._began
        headers = Headers(reply.raw.headers.items())
        flags = frozenset({"truncated"} if self._prefix and self._prefix.is_cut else ())
        return Response(
            self._request.url,
            reply.status_code,
            headers,
            reply.content,
            self._request,
            elapsed,
            flags,
            saved=self._saved,
        )

    def _send(self) -> Any:
        request, limits = self._request, self._limits
        hooks = self._session.hooks.get("response", [])
        return self._session.request(
            request.method,
            request.url,
            headers=self._headers(),
            data=request.body or None,
            cookies=dict(request.cookies),
            timeout=(min(limits.connect, self._timeout), min(limits.stall, self._timeout)),
            allow_redirects=False,
            stream=True,
            proxies=dict.fromkeys(("http", "https"), request.proxy) if request.proxy else None,
            # Before all other hooks: Session would read the body of a redirect without a limit.
            hooks={"response": [self._read, *hooks]},
        )

    def _headers(self) -> dict[str, str | bytes]:
        headers = {"Accept-Encoding": coding.accept_encoding()}
        own = str(self._session.headers.get("User-Agent", ""))
        if own.startswith("python-requests/"):
            headers["User-Agent"] = user_agent()
        given = {name.lower() for name in self._request.headers}
        kept = {name: value for name, value in headers.items() if name.lower() not in given}
        return {
            name: value.encode() for name, value in (kept | dict(self._request.headers)).items()
        }

    def _read(self, reply: Any, **_: object) -> None:
        """Read the body into *reply* within the limits, so that no other code reads it."""
        try:
            with _fetch_errors("truncated"):
                self._check_head(reply)
                reply._content = self._body(reply)  # noqa: SLF001
                reply._content_consumed = True  # noqa: SLF001
            if self._prefix is not None and self._prefix.is_full:
                reply.raw.close()
        except BaseException:
            reply.raw.close()
            raise

    def _body(self, reply: Any) -> bytes:
        coded = reply.headers.get("content-encoding", "")
        target = self._request.save_to
        if target is not None and is_saved(self._request, reply.status_code):
            typed = reply.headers.get("content-type", "")
            self._saved = self._save(reply.raw, BodyFile(target, self._limits.file), coded, typed)
            return b""
        body = BytesIO()  # not a list: a server may send a body in millions of pieces
        body.writelines(self._chunks(reply.raw, self._limits.body))
        if self._prefix is not None:
            return self._prefix.decoded(body.getvalue(), coded)
        return coding.decode(body.getvalue(), coded, self._limits.body)

    def _save(self, raw: Any, file: BodyFile, coded: str, typed: str) -> SavedBody:
        self._answered = time.monotonic()
        try:
            for chunk in self._chunks(raw, self._limits.file):
                file.write(chunk)
            return file.save(coded, typed)
        finally:
            file.discard()

    def _check_head(self, reply: Any) -> None:
        if reply.status_code < http.HTTPStatus.OK:
            raise FetchError("protocol", f"{reply.status_code} is not a final status")
        self._limits.check_headers(sum(map(len, chain(*reply.raw.headers.items()))))

    def _chunks(self, raw: Any, max_size: int) -> Iterator[bytes]:
        size = 0
        while chunk := raw.read1(65536, decode_content=False):
            size += len(chunk)
            if self._prefix is None:
                coding.check_body_size(size, max_size)
            if time.monotonic() - self._began > self._timeout:
                raise _expired(self._timeout)
            yield chunk
            if self._prefix is not None and not self._prefix.take(chunk):
                return


def _expired(timeout: float) -> FetchError:
    return FetchError("timeout", f"took longer than {timeout:g} s")


@contextmanager
def _fetch_errors(otherwise: str) -> Iterator[None]:
    """Raise every error as a FetchError, of kind *otherwise* if the error implies no kind."""
    try:
        yield
    except FetchError:
        raise
    except Exception as error:
        raise FetchError(_kind(error, otherwise), str(error)) from error


def _kind(error: Exception, otherwise: str) -> str:
    causes = _causes(error)
    if any(_TOO_MANY_HEADERS in cause.args for cause in causes):
        return "too_large"
    if any(map(is_out_of_descriptors, causes)):
        return "descriptors"
    for types, kind in _kinds():
        if any(isinstance(cause, types) for cause in causes):
            return kind or otherwise
    return otherwise


def _causes(error: BaseException) -> list[BaseException]:
    """Return *error* and all errors it wraps: requests and urllib3 wrap in four ways."""
    causes = [error]
    for cause in causes:
        wrapped = (*cause.args, getattr(cause, "reason", None), cause.__cause__, cause.__context__)
        causes += [w for w in wrapped if isinstance(w, BaseException) and w not in causes]
    return causes


@cache
def _kinds() -> tuple[tuple[tuple[type[BaseException], ...], str], ...]:
    """Return kinds by exception, the more specific first; "" if the kind depends on the phase."""
    from requests import exceptions as of_requests  # noqa: PLC0415 - optional
    from urllib3 import exceptions as of_urllib3  # noqa: PLC0415 - optional

    return (
        ((of_requests.ProxyError, of_urllib3.ProxyError), "proxy"),
        ((of_requests.SSLError, of_urllib3.SSLError), "tls"),
        ((socket.gaierror,), "dns"),
        ((of_urllib3.NewConnectionError,), "connect"),
        ((of_requests.Timeout, of_urllib3.TimeoutError, TimeoutError), "timeout"),
        ((ConnectionError,), ""),
        ((of_urllib3.IncompleteRead, http.client.IncompleteRead), "truncated"),
        ((http.client.LineTooLong,), "too_large"),
        ((http.client.HTTPException, of_urllib3.InvalidHeader), "protocol"),
        ((of_urllib3.LocationValueError, ValueError), "bad_request"),
    )
