"""What may leave the house."""

from __future__ import annotations

import re

from ..data import Request
from ..errors import FetchError

_SCHEMES = ("http://", "https://")
_PROXY = re.compile(r"(https?|socks4a?|socks5h?)://[!-~]+", re.IGNORECASE)


def check(request: Request) -> None:
    """Refuse what no server should see: only http, and no byte that could end a line."""
    url = request.url
    visible = url.isascii() and url.isprintable() and " " not in url
    if not (visible and (url.startswith(_SCHEMES) or url.lower().startswith(_SCHEMES))):
        raise FetchError("bad_request", f"not an http URL in ASCII: {url[:200]!r}")
    if request.proxy and not _PROXY.fullmatch(request.proxy):
        raise FetchError("bad_request", "a proxy is a URL of http, https, socks4 or socks5")
    if request.body and request.method == "HEAD":
        raise FetchError("bad_request", "HEAD takes no body")
