"""
Which responses a private cache may store, and for how long they are fresh (RFC 9111).

Pure functions of headers and times; times are those of time.time().
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ...data import Request, Response
from ...headers import Headers
from ...http.dates import http_date

_DIRECTIVE = re.compile(r'([^\s,;="]+)[ \t]*(?:=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]*)))?')
#: The longest lifetime, in seconds; a longer one counts as a year.
_YEAR = 31_536_000.0
#: The fraction of its age when it was served for which a page is expected to stay fresh.
_HEURISTIC = 0.1
#: Statuses of responses that may be stored without an explicit lifetime.
_STORABLE = frozenset({200, 203, 204, 300, 301, 308, 404, 405, 410, 414})
#: Statuses of temporary failures and of partial content.
_NEVER = frozenset({206, 304, 408, 425, 429})
#: Directives that allow to store the response to a request with credentials.
_FOR_EVERYBODY = frozenset({"public", "must-revalidate", "s-maxage"})


def directives(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the directives of Cache-Control by lower-case name; the first of a name counts."""
    found: dict[str, str] = {}
    for name, quoted, plain in _DIRECTIVE.findall(headers.get("cache-control", "")):
        found.setdefault(name.lower(), quoted or plain)
    return found


def is_reusable(response: Response) -> bool:
    """Return whether *response* is whole and not a temporary failure, so that a copy is as good."""
    reusable = 200 <= response.status < 500 and response.status not in _NEVER
    return reusable and "truncated" not in response.flags


def is_storable(response: Response) -> bool:
    """Return whether *response* may be stored and could be used later."""
    headers, control = response.headers, directives(response.headers)
    if not is_reusable(response) or "no-store" in control or "*" in headers.get("vary", ""):
        return False
    if _has_credentials(response.request) and not control.keys() & _FOR_EVERYBODY:
        return False
    if "max-age" in control or "expires" in headers:
        return True
    return response.status in _STORABLE and bool(validators(headers))


def forbids(request: Request) -> bool:
    """Return whether *request* forbids the use of a cache."""
    return "no-store" in directives(request.headers)


def is_fresh(request: Request, headers: Headers, age: float, lifetime: float) -> bool:
    """Return whether a stored response with *headers* may answer *request* without a fetch."""
    if "no-cache" in directives(headers):
        return False
    wanted = directives(request.headers)
    if "no-cache" in wanted or ("max-age" in wanted and age > seconds(wanted["max-age"])):
        return False
    return age < lifetime


def lifetime(headers: Headers, received: float, *, heuristic: bool) -> float:
    """Return the seconds for which a response is fresh, counted from its date."""
    control = directives(headers)
    made = http_date(headers.get("date", "")) or received
    if "max-age" in control:
        return seconds(control["max-age"])
    if "expires" in headers:
        expires = http_date(headers["expires"])
        return 0.0 if expires is None else max(0.0, expires - made)
    modified = http_date(headers.get("last-modified", ""))
    if heuristic and modified is not None:
        return min(max(0.0, made - modified) * _HEURISTIC, _YEAR)
    return 0.0


def age(headers: Headers, received: float, delay: float, now: float) -> float:
    """Return the seconds since the date of a response; the exchange took *delay* seconds."""
    made = http_date(headers.get("date", "")) or received
    stated = seconds(headers.get("age", "0").partition(",")[0]) + delay
    return max(0.0, received - made, stated) + max(0.0, now - received)


def may_stand_in(request: Request, headers: Headers, staleness: float, allowed: float) -> bool:
    """Return whether a stale response with *headers* may answer *request* after a failed fetch."""
    control = directives(headers)
    if control.keys() & {"must-revalidate", "no-cache"} or "no-cache" in directives(
        request.headers
    ):
        return False
    return staleness < max(allowed, seconds(control.get("stale-if-error", "0")))


def validators(headers: Headers) -> dict[str, str]:
    """Return the request fields that ask whether a stored response is still valid."""
    fields = {}
    if "etag" in headers:
        fields["If-None-Match"] = headers["etag"]
    if "last-modified" in headers:
        fields["If-Modified-Since"] = headers["last-modified"]
    return fields


def seconds(text: str) -> float:
    """Return the number of seconds in *text*; 0, which is safe, if it is not a number."""
    text = text.strip()
    return min(float(text[:12]), _YEAR) if text.isascii() and text.isdigit() else 0.0


def _has_credentials(request: Request) -> bool:
    authority = request.url.partition("://")[2].partition("/")[0]
    return "authorization" in request.headers or "@" in authority
