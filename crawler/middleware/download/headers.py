"""Header fields for every request that does not have them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ... import url as urls
from ...data import Request
from ...headers import Headers
from .contract import DownloadMiddleware

#: Fields that are secret, or valid for one host only.
_FOR_ONE_ORIGIN = frozenset({"authorization", "cookie", "host", "proxy-authorization"})
_ORIGIN = re.compile(r"https?://[^/?#@\\\s]+/?", re.IGNORECASE)


class DefaultHeaders(DownloadMiddleware):
    """
    Adds the *fields* that a request does not have.

    With an *origin*, such as "https://example.org", only requests to that origin get them; every
    hop of a redirect is a separate request. Fields such as Authorization need an origin.
    """

    def __init__(self, fields: Mapping[str, str], origin: str | None = None) -> None:
        secret = sorted(name for name in fields if name.lower() in _FOR_ONE_ORIGIN)
        if secret and origin is None:
            raise ValueError(f"{secret[0]} would go to every host: give the origin it is for")
        #: Shared by the requests, so that a fetcher can set its header fields once.
        self._headers = Request("http://any.invalid/", headers=fields).headers
        self._origin = None if origin is None else exact_origin(origin)

    def before_download(self, request: Request) -> Request:
        if self._origin is not None and urls.origin(request.url) != self._origin:
            return request
        if not request.headers:
            return request.replace(headers=self._headers)
        return adding(request, self._headers)

    def __repr__(self) -> str:
        place = f" for {self._origin}" if self._origin else ""
        return f"<{type(self).__name__} {', '.join(self._headers)}{place}>"


class UserAgent(DefaultHeaders):
    """Sends *text* as User-Agent; the rules of robots.txt stay those for the agent of the crawl."""

    def __init__(self, text: str) -> None:
        super().__init__({"User-Agent": text})


def adding(request: Request, fields: Mapping[str, str], **changes: Any) -> Request:
    """Return *request* with the *fields* that it does not have, and with *changes*."""
    own = request.headers
    missing = [(name, value) for name, value in fields.items() if name not in own]
    if missing:
        given = own.fields if isinstance(own, Headers) else tuple(own.items())
        changes["headers"] = Headers([*given, *missing])
    return request.replace(**changes) if changes else request


def exact_origin(text: str) -> str:
    """Return *text* as origin() writes it; raise ValueError if it is not exactly an origin."""
    if not _ORIGIN.fullmatch(text):
        shown = text.rpartition("@")[2]  # the part before may be a password
        raise ValueError(f"an origin is a scheme, a host and perhaps a port, not {shown!r}")
    return urls.origin(text)
