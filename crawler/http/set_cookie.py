"""Cookies as servers set them (RFC 6265, and its revision where browsers have gone ahead)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from math import inf

from .. import url as urls

_LONGEST = 4096
_LONGEST_ATTRIBUTE = 1024
#: No cookie lives longer, whatever it says.
_LONGEST_LIFE = 400 * 86400.0
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_NOT_IN_A_HOST = re.compile(r"[^!-~\x80-\U0010ffff]|[/?#@:\\\[\]]")
_NUMBER = re.compile(r"-?[0-9]+")

_BETWEEN = re.compile(r"[\t -/;-@\[-`{-~]+")
_TIME = re.compile(r"([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(?![0-9])")
_DAY = re.compile(r"[0-9]{1,2}(?![0-9])")
_YEAR = re.compile(r"[0-9]{2,4}(?![0-9])")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


@dataclass(frozen=True, slots=True)
class Place:
    """What of a URL decides about cookies; 80 and 443 are one *port*, for one site has both."""

    secure: bool
    host: str
    port: int
    path: str

    @classmethod
    def of(cls, url: str) -> Place:
        path = urls.target(url).partition("?")[0]
        return cls(*_door(urls.origin(url)), path)


@lru_cache(maxsize=1 << 12)
def _door(origin: str) -> tuple[bool, str, int]:
    port = urls.port(origin) or 0
    return origin.startswith("https:"), urls.host(origin), 443 if port == 80 else port


@dataclass(frozen=True, slots=True)
class Cookie:
    """
    A cookie and where it may be sent.

    With a *port* it is only for the host and port that set it; without, for every host of
    *domain*. *expires* is a time of time.time(), or infinite for as long as the jar.

    SameSite and HttpOnly are not kept: every fetch is a navigation of its own, and there
    are no scripts.
    """

    name: str
    value: str
    domain: str
    port: int | None
    path: str
    secure: bool
    expires: float = inf

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
    """Read one Set-Cookie *field* that came from *place*; None if it must be ignored."""
    text = _as_sent(field)
    if text is None or _CONTROL.search(text):
        return None
    pair, _, rest = text.partition(";")
    name, equals, value = (part.strip(" \t") for part in pair.partition("="))
    if not (equals and name) or len(name.encode()) + len(value.encode()) > _LONGEST:
        return None
    attributes = _attributes(rest)
    cookie = _scoped(name, value, attributes, place)
    if cookie is None or not _keeps_its_word(cookie, attributes, place):
        return None
    return _with_life(cookie, attributes, now)


def _as_sent(field: str) -> str | None:
    """Return the text whose UTF-8 is what the server sent: headers are read as Latin-1."""
    try:
        return field.encode("latin-1").decode()
    except UnicodeError:
        return None


def _attributes(text: str) -> Mapping[str, str]:
    """Return attributes by lower-case name; the last of a name counts."""
    pairs = (part.partition("=") for part in text.split(";"))
    stripped = ((name.strip(" \t").lower(), value.strip(" \t")) for name, _, value in pairs)
    return {name: value for name, value in stripped if len(value) <= _LONGEST_ATTRIBUTE}


def _scoped(name: str, value: str, attributes: Mapping[str, str], place: Place) -> Cookie | None:
    """Return the cookie with its scope; None if it wants more than its host may give."""
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
    """Say if hosts of different owners are below *domain*, or it is no domain but one host."""
    return "." not in domain or urls.is_address(domain) or urls.is_public_suffix(domain)


def _keeps_its_word(cookie: Cookie, attributes: Mapping[str, str], place: Place) -> bool:
    """Secure cookies are set securely, and what a name promises is true."""
    if cookie.secure and not place.secure:
        return False
    name = cookie.name.lower()
    if name.startswith("__secure-"):
        return cookie.secure
    if name.startswith("__host-"):
        return cookie.secure and "domain" not in attributes and attributes.get("path") == "/"
    return True


def _with_life(cookie: Cookie, attributes: Mapping[str, str], now: float) -> Cookie:
    expires = inf
    max_age = attributes.get("max-age", "")
    if _NUMBER.fullmatch(max_age):
        expires = now + float(max_age[:12])
    elif (date := _date(attributes.get("expires", ""))) is not None:
        expires = date
    if expires == inf:
        return cookie
    return replace(cookie, expires=min(expires, now + _LONGEST_LIFE))


def _date(text: str) -> float | None:
    """Read a date as RFC 6265 (5.1.1) does, which takes nearly anything."""
    found: dict[str, tuple[int, ...]] = {}
    for token in _BETWEEN.split(text):
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
