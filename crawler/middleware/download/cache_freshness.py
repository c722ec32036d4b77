"""
What may be stored, and for how long it is fresh (RFC 9111), for a private cache.

Pure functions of headers and times; times are those of time.time().
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ...data import Headers, Request, Response
from ...http.dates import http_date

_DIRECTIVE = re.compile(r'([^\s,;="]+)[ \t]*(?:=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]*)))?')
#: Longer lifetimes than a year mean a year.
_YEAR = 31_536_000.0
#: The share of its age, when it was served, that a page is expected to stay as it is.
_HEURISTIC = 0.1
#: Answers that hold even if they do not say for how long.
_LASTING = frozenset({200, 203, 204, 300, 301, 308, 404, 405, 410, 414})
#: Answers that tell of a passing trouble, or are only a part.
_NEVER = frozenset({206, 304, 408, 425, 429})
#: Directives that let an answer to a request with credentials be stored.
_FOR_EVERYBODY = frozenset({"public", "must-revalidate", "s-maxage"})


def directives(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the directives of Cache-Control by lower-case name; the first of a name counts."""
    found: dict[str, str] = {}
    for name, quoted, plain in _DIRECTIVE.findall(headers.get("cache-control", "")):
        found.setdefault(name.lower(), quoted or plain)
    return found


def is_lasting(response: Response) -> bool:
    """Say if *response* is an answer of which one copy is as good as another."""
    lasting = 200 <= response.status < 500 and response.status not in _NEVER
    return lasting and "truncated" not in response.flags


def is_storable(response: Response) -> bool:
    """Say if *response* may be stored, and may be of use then."""
    headers, said = response.headers, directives(response.headers)
    if not is_lasting(response) or "no-store" in said or "*" in headers.get("vary", ""):
        return False
    if _has_credentials(response.request) and not said.keys() & _FOR_EVERYBODY:
        return False
    if "max-age" in said or "expires" in headers:
        return True
    return response.status in _LASTING and bool(validators(headers))


def forbids(request: Request) -> bool:
    """Say if *request* wants nothing to do with a cache."""
    return "no-store" in directives(request.headers)


def is_fresh(request: Request, headers: Headers, age: float, lifetime: float) -> bool:
    """Say if what has *headers* may answer *request* without anybody being asked."""
    if "no-cache" in directives(headers):
        return False
    wanted = directives(request.headers)
    if "no-cache" in wanted or ("max-age" in wanted and age > seconds(wanted["max-age"])):
        return False
    return age < lifetime


def lifetime(headers: Headers, received: float, *, heuristic: bool) -> float:
    """Return the seconds that an answer is fresh, from when it was made."""
    said = directives(headers)
    made = http_date(headers.get("date", "")) or received
    if "max-age" in said:
        return seconds(said["max-age"])
    if "expires" in headers:
        expires = http_date(headers["expires"])
        return 0.0 if expires is None else max(0.0, expires - made)
    modified = http_date(headers.get("last-modified", ""))
    if heuristic and modified is not None:
        return min(max(0.0, made - modified) * _HEURISTIC, _YEAR)
    return 0.0


def age(headers: Headers, received: float, delay: float, now: float) -> float:
    """Return the seconds since an answer was made; *delay* is what the exchange took."""
    made = http_date(headers.get("date", "")) or received
    told = seconds(headers.get("age", "0").partition(",")[0]) + delay
    return max(0.0, received - made, told) + max(0.0, now - received)


def may_stand_in(request: Request, headers: Headers, staleness: float, allowed: float) -> bool:
    """Say if what has *headers* may answer *request* because there is no other answer."""
    said = directives(headers)
    if said.keys() & {"must-revalidate", "no-cache"} or "no-cache" in directives(request.headers):
        return False
    return staleness < max(allowed, seconds(said.get("stale-if-error", "0")))


def validators(headers: Headers) -> dict[str, str]:
    """Return the fields that ask if a stored answer still holds."""
    fields = {}
    if "etag" in headers:
        fields["If-None-Match"] = headers["etag"]
    if "last-modified" in headers:
        fields["If-Modified-Since"] = headers["last-modified"]
    return fields


def seconds(text: str) -> float:
    """Read a number of seconds; what is none means 0, which is the safe side."""
    text = text.strip()
    return min(float(text[:12]), _YEAR) if text.isascii() and text.isdigit() else 0.0


def _has_credentials(request: Request) -> bool:
    authority = request.url.partition("://")[2].partition("/")[0]
    return "authorization" in request.headers or "@" in authority
