"""Checks of a request before it is sent, and of the reply of a proxy."""

from __future__ import annotations

import re
from http import HTTPStatus

from ..data import Request, Response
from ..errors import FetchError

_SCHEMES = ("http://", "https://")
#: Browsers end the host at a backslash; libcurl reads on, and may find another host after "@".
_BACKSLASH_IN_HOST = re.compile(r"[^:]+:/+[^/?#\\]*\\")
_PROXY = re.compile(r"(https?|socks4a?|socks5h?)://[!-~]+", re.IGNORECASE)


def check(request: Request) -> None:
    """Raise FetchError unless *request* is for http or https and no byte in it can end a line."""
    url = request.url
    visible = url.isascii() and url.isprintable() and " " not in url
    if not (visible and (url.startswith(_SCHEMES) or url.lower().startswith(_SCHEMES))):
        raise FetchError("bad_request", f"not an http URL in ASCII: {url[:200]!r}")
    if "\\" in url and _BACKSLASH_IN_HOST.match(url):
        raise FetchError("bad_request", f"a backslash before the path: {url[:200]!r}")
    if request.proxy and not _PROXY.fullmatch(request.proxy):
        raise FetchError("bad_request", "a proxy is a URL of http, https, socks4 or socks5")
    if request.body and request.method == "HEAD":
        raise FetchError("bad_request", "HEAD takes no body")


def check_proxy_reply(response: Response) -> None:
    """Raise FetchError if *response* comes from the proxy itself, which refuses to serve us."""
    if response.status == HTTPStatus.PROXY_AUTHENTICATION_REQUIRED:
        raise FetchError("proxy", "the proxy requires other credentials (407)")
