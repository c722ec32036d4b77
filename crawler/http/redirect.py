"""The next hop of a redirected request."""

from __future__ import annotations

import re

from ..data import Request, Response
from ..headers import Headers
from ..url import origin, resolve, without_fragment

#: The limit of redirects for one request, and the key in its meta for another limit.
MAX_REDIRECTS = 10
LIMIT_KEY = "max_redirects"
_NOT_ASCII = re.compile(r"[\x80-\xff]")
_STATUSES = frozenset({301, 302, 303, 307, 308})
#: The statuses of a page that has moved permanently.
PERMANENT = frozenset({301, 308})
#: Header fields that any origin may see; every other field may contain a credential.
_PUBLIC = frozenset(
    (  # noqa: SIM905 - easier to read than a list
        "accept accept-charset accept-encoding accept-language cache-control dnt pragma "
        "upgrade-insecure-requests user-agent"
    ).split()
)


def is_redirect(response: Response) -> bool:
    return response.status in _STATUSES and "location" in response.headers


def redirect_limit(request: Request, usual: int) -> int:
    """Return how many redirects of *request* are followed; 0 makes a redirect a usual response."""
    limit = request.meta.get(LIMIT_KEY, usual)
    return limit if isinstance(limit, int) else usual


def target_of(response: Response) -> str:
    """Return the Location; its bytes that are not ASCII are escaped as they are, as browsers do."""
    location = response.headers.all("location")[0]
    if location.isascii():
        return location
    return _NOT_ASCII.sub(lambda found: f"%{ord(found[0]):02X}", location)


def next_hop(request: Request, response: Response) -> Request:
    """
    Return the request that follows the redirect, with the current URL added to *redirects*.

    When the origin changes, cookies, the body and all header fields that may contain a
    credential are removed. Raises InvalidURL.
    """
    url = without_fragment(resolve(request.url, target_of(response)))
    hop = request.replace(url=url, redirects=(*request.redirects, request.url))
    if _becomes_get(request.method, response.status):
        hop = _without_body(hop, method="GET")
    if origin(url) != origin(request.url):
        hop = _without_secrets(hop)
    return hop


def _becomes_get(method: str, status: int) -> bool:
    if status == 303:
        return method not in ("GET", "HEAD")
    return status in (301, 302) and method == "POST"


def _without_body(request: Request, method: str) -> Request:
    fields = [(n, v) for n, v in request.headers.items() if not n.lower().startswith("content-")]
    return request.replace(method=method, body=b"", headers=Headers(fields))


def _without_secrets(request: Request) -> Request:
    fields = [(n, v) for n, v in request.headers.items() if n.lower() in _PUBLIC]
    return _without_body(
        request.replace(headers=Headers(fields), cookies={}), method=request.method
    )
