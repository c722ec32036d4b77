"""Site: a web site in a dict."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import gevent

from ..data import Request, Response
from ..headers import Headers
from .scripted_reply import Wire

HTML = "text/html; charset=utf-8"


@dataclass(frozen=True)
class Reply:
    """The response of a page, after *delay* seconds; a body without a content-type is HTML."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str | bytes = b""
    delay: float = 0.0

    @property
    def content(self) -> bytes:
        return self.body.encode() if isinstance(self.body, str) else self.body

    @property
    def fields(self) -> Headers:
        headers = Headers(self.headers)
        if not self.body or "content-type" in map(str.lower, headers):
            return headers
        return Headers((("content-type", HTML), *headers.fields))


Failure: TypeAlias = BaseException | type[BaseException]
Page: TypeAlias = "str | bytes | Reply | Wire | Failure | Callable[[Request], Page]"
_MISSING = Reply(404, body="<h1>Not Found</h1>")


def reply_of(page: Page, request: Request) -> Reply | Wire:
    """Return the reply of *page*; raise its exception if it is one."""
    page = called(page, request)
    if isinstance(page, Reply | Wire):
        return page
    if isinstance(page, str | bytes):
        return Reply(body=page)
    raise page


def called(page: Page, request: Request) -> str | bytes | Reply | Wire | Failure:
    """Call *page* if it is a function, and what it returns if that is one."""
    while callable(page) and not isinstance(page, type):
        page = page(request)
    return page


def find_page(pages: Mapping[str, Page], target: str) -> Page:
    """Look up a path with its query, then without it; a missing page is a 404."""
    page = pages.get(target)
    return pages.get(target.partition("?")[0], _MISSING) if page is None else page


class Site:
    """
    A web site in a dict, callable as a fetch function.

    Keys are paths below *base* or whole URLs. A page is text or bytes (HTML), a Reply, an exception
    to raise, or a function that takes the request and returns one of these.

    >>> site = Site({"/": "<a href='/a'>a</a>", "/a": Reply(503)})
    >>> site(Request("http://site.test/a")).status
    503
    """

    def __init__(self, pages: Mapping[str, Page], base: str = "http://site.test") -> None:
        self.base = base
        self.pages = {base + key if key.startswith("/") else key: pages[key] for key in pages}
        self.requests: list[Request] = []

    def url(self, path: str = "/") -> str:
        return self.base + path

    def __call__(self, request: Request) -> Response:
        self.requests.append(request)
        reply = reply_of(find_page(self.pages, request.url.partition("#")[0]), request)
        if isinstance(reply, Wire):
            raise TypeError("a Wire needs a LoopbackSite: a Site has no connection")
        if reply.delay:
            gevent.sleep(reply.delay)
        body = b"" if request.method == "HEAD" else reply.content
        return Response(request.url, reply.status, reply.fields, body, request, reply.delay)

    def __repr__(self) -> str:
        return f"<Site {self.base}, {len(self.pages)} pages, {len(self.requests)} requests>"
