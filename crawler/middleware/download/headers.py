"""Header fields for every request that has not its own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ... import url as urls
from ...data import Headers, Request
from .contract import DownloadMiddleware

#: Fields that tell a secret, or are right for one host only.
_FOR_ONE_ORIGIN = frozenset({"authorization", "cookie", "host", "proxy-authorization"})
_ORIGIN = re.compile(r"https?://[^/?#@\\\s]+/?", re.IGNORECASE)


class DefaultHeaders(DownloadMiddleware):
    """
    Adds those of *fields* that a request has not.

    With an *origin*, such as "https://example.org", only requests to it get them: every
    hop of a redirect is a request of its own. Fields such as Authorization need one.
    """

    def __init__(self, fields: Mapping[str, str], origin: str | None = None) -> None:
        secret = sorted(name for name in fields if name.lower() in _FOR_ONE_ORIGIN)
        if secret and origin is None:
            raise ValueError(f"{secret[0]} would go to every host: give the origin it is for")
        #: Requests share it, which lets a fetcher set its header fields once.
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
    """Introduces the crawler as *text*; robots.txt is read for the agent of the crawl."""

    def __init__(self, text: str) -> None:
        super().__init__({"User-Agent": text})


def adding(request: Request, fields: Mapping[str, str], **changes: Any) -> Request:
    """Return *request* with those of *fields* that it has not, and with *changes*."""
    own = request.headers
    missing = [(name, value) for name, value in fields.items() if name not in own]
    if missing:
        given = own.fields if isinstance(own, Headers) else tuple(own.items())
        changes["headers"] = Headers([*given, *missing])
    return request.replace(**changes) if changes else request


def exact_origin(text: str) -> str:
    """Return *text* as origin() writes it; raise ValueError if it says more or less than one."""
    if not _ORIGIN.fullmatch(text):
        shown = text.rpartition("@")[2]  # what is before may be a password
        raise ValueError(f"an origin is a scheme, a host and perhaps a port, not {shown!r}")
    return urls.origin(text)
