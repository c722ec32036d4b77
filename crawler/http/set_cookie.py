"""Parsing of Set-Cookie (RFC 6265, and its revision where browsers follow that already)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from math import inf
from typing import Any

from .. import url as urls

#: Limits of a name with its value, and of an attribute, in bytes and characters.
_MAX_PAIR = 4096
_MAX_ATTRIBUTE = 1024
#: The limit of a cookie's lifetime, in seconds.
_MAX_LIFETIME = 400 * 86400.0
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_NOT_IN_A_HOST = re.compile(r"[^!-~\x80-\U0010ffff]|[/?#@:\\\[\]]")
_NUMBER = re.compile(r"-?[0-9]+")

_DELIMITERS = re.compile(r"[\t -/;-@\[-`{-~]+")
_TIME = re.compile(r"([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(?![0-9])")
_DAY = re.compile(r"[0-9]{1,2}(?![0-9])")
_YEAR = re.compile(r"[0-9]{2,4}(?![0-9])")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


@dataclass(frozen=True, slots=True)
class Place:
    """The parts of a URL that matter for cookies; 80 and 443 count as one *port* of one site."""

    secure: bool
    host: str
    port: int
    path: str

    @classmethod
    def of(cls, url: str) -> Place:
        path = urls.target(url).partition("?")[0]
        return cls(*_secure_host_port(urls.origin(url)), path)


@lru_cache(maxsize=1 << 12)
def _secure_host_port(origin: str) -> tuple[bool, str, int]:
    port = urls.port(origin) or 0
    return origin.startswith("https:"), urls.host(origin), 443 if port == 80 else port


@dataclass(frozen=True, slots=True)
class Cookie:
    """
    A cookie and where it may be sent.

    A cookie with a *port* is sent only to the host and port that set it; without, to every
    host of *domain*. *expires* is a time of time.time(); infinite means the life of the jar.

    SameSite and HttpOnly are not stored: every fetch is a top-level navigation, and there
    are no scripts.
    """

    name: str
    value: str
    domain: str
    port: int | None
    path: str
    secure: bool
    expires: float = inf

    def to_values(self) -> list[Any]:
        """Return the fields as JSON values; an infinite time is None."""
        *fields, expires = astuple(self)
        return [*fields, None if expires == inf else expires]

    @classmethod
    def from_values(cls, values: Sequence[Any]) -> Cookie:
        name, value, domain, port, path, secure, expires = values
        return cls(name, value, domain, port, path, secure, inf if expires is None else expires)

    def is_for(self, place: Place) -> bool:
        if self.secure and not place.secure:
            return False
        if self.port is not None:
            covered = (self.domain, self.port) == (place.host, place.port)
        else:
            covered = domain_matches(place.host, self.domain)
        return covered and path_matches(place.path, self.path)


def domain_matches(host: str, domain: str) -> bool:
    return host == domain or (host.endswith(f".{domain}") and not urls.is_address(host))


def path_matches(path: str, prefix: str) -> bool:
    if not path.startswith(prefix):
        return False
    return len(path) == len(prefix) or prefix.endswith("/") or path[len(prefix)] == "/"


def read_cookie(field: str, place: Place, now: float) -> Cookie | None:
    """Parse one Set-Cookie *field* sent by *place*; return None if it must be ignored."""
    text = _utf8(field)
    if text is None or _CONTROL.search(text):
        return None
    pair, _, rest = text.partition(";")
    name, equals, value = (part.strip(" \t") for part in pair.partition("="))
    if not (equals and name) or len(name.encode()) + len(value.encode()) > _MAX_PAIR:
        return None
    attributes = _attributes(rest)
    cookie = _scoped(name, value, attributes, place)
    if cookie is None or not _is_valid(cookie, attributes, place):
        return None
    return _with_lifetime(cookie, attributes, now)


def _utf8(field: str) -> str | None:
    """Return the field decoded as UTF-8; headers are decoded as Latin-1 at first."""
    try:
        return field.encode("latin-1").decode()
    except UnicodeError:
        return None


def _attributes(text: str) -> Mapping[str, str]:
    """Return the attributes by lower-case name; the last one of a name counts."""
    pairs = (part.partition("=") for part in text.split(";"))
    stripped = ((name.strip(" \t").lower(), value.strip(" \t")) for name, _, value in pairs)
    return {name: value for name, value in stripped if len(value) <= _MAX_ATTRIBUTE}


def _scoped(name: str, value: str, attributes: Mapping[str, str], place: Place) -> Cookie | None:
    """Return the cookie with its scope; None if its host may not set a cookie for that scope."""
    path = attributes.get("path", "")
    if not path.startswith("/"):
        path = place.path[: place.path.rfind("/")] or "/"
    host_only = Cookie(name, value, place.host, place.port, path, "secure" in attributes)
    wanted = attributes.get("domain", "").removeprefix(".")
    if not wanted:
        return host_only
    domain = _domain(wanted)
    if domain is None or not domain_matches(place.host, domain):
        return None
    if not _is_shared(domain):
        return replace(host_only, domain=domain, port=None)
    return host_only if domain == place.host else None


def _domain(text: str) -> str | None:
    if _NOT_IN_A_HOST.search(text):
        return None
    try:
        return urls.host(f"http://{text}/")
    except ValueError:
        return None


def _is_shared(domain: str) -> bool:
    """Return whether *domain* has hosts of different owners, or is a single host."""
    return "." not in domain or urls.is_address(domain) or urls.is_public_suffix(domain)


def _is_valid(cookie: Cookie, attributes: Mapping[str, str], place: Place) -> bool:
    """Return whether a secure cookie was set securely and the name's prefix holds."""
    if cookie.secure and not place.secure:
        return False
    name = cookie.name.lower()
    if name.startswith("__secure-"):
        return cookie.secure
    if name.startswith("__host-"):
        return cookie.secure and "domain" not in attributes and attributes.get("path") == "/"
    return True


def _with_lifetime(cookie: Cookie, attributes: Mapping[str, str], now: float) -> Cookie:
    expires = inf
    max_age = attributes.get("max-age", "")
    if _NUMBER.fullmatch(max_age):
        expires = now + float(max_age[:12])
    elif (date := _date(attributes.get("expires", ""))) is not None:
        expires = date
    if expires == inf:
        return cookie
    return replace(cookie, expires=min(expires, now + _MAX_LIFETIME))


def _date(text: str) -> float | None:
    """Parse a date by the rules of RFC 6265 (5.1.1), which accept nearly anything."""
    found: dict[str, tuple[int, ...]] = {}
    for token in _DELIMITERS.split(text):
        if "time" not in found and (time := _TIME.match(token)):
            found["time"] = tuple(map(int, time.groups()))
        elif "day" not in found and (day := _DAY.match(token)):
            found["day"] = (int(day[0]),)
        elif "month" not in found and token[:3].lower() in _MONTHS:
            found["month"] = (_MONTHS.index(token[:3].lower()) + 1,)
        elif "year" not in found and (year := _YEAR.match(token)):
            found["year"] = (_four_digits(int(year[0])),)
    try:
        date = *found["year"], *found["month"], *found["day"], *found["time"]
        return datetime(*date, tzinfo=UTC).timestamp()  # type: ignore[misc,arg-type]
    except (KeyError, ValueError):
        return None


def _four_digits(year: int) -> int:
    if year < 70:
        return year + 2000
    return year + 1900 if year < 100 else year
