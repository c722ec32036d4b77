"""Cookies: kept for each session, and sent to the hosts they belong to."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from ... import url as urls
from ...data import Request, Response
from ...http.set_cookie import Cookie, Place, domain_matches, path_matches, read_cookie
from .contract import DownloadMiddleware, session_of
from .headers import adding

#: The most cookies of the hosts of one registered domain.
_MOST_PER_DOMAIN = 180
#: The characters of names and values that a jar keeps: all of them are written again and again, and
#: others wait meanwhile. The cookies of one domain are never more.
_LARGEST = 1 << 20
#: How many cookies are written whenever one of them has changed.
_FEW = 100


class Cookies(DownloadMiddleware):
    """
    Keeps cookies as a browser does, and sends them to the hosts they belong to.

    Requests with the same meta["session"] share a jar; all others share the jar named "".
    The *cookies* of a request take precedence over those of the jar with the same name, and a
    Cookie field over all cookies. Each hop of a redirect is a separate request with its own
    cookies. A cached response sets no cookies.

    A jar holds *most* cookies, and a megabyte of them; it drops those of the domain that was
    requested least recently.
    """

    def __init__(self, *, most: int = 3000, clock: Callable[[], float] = time.time) -> None:
        if most < _MOST_PER_DOMAIN:
            raise ValueError(f"most must be at least {_MOST_PER_DOMAIN}, not {most!r}")
        #: Called with the session, the URL that has set a cookie, and the cookie.
        self.on_set: Callable[[str, str, Cookie], object] = _ignore
        self._clock = clock
        self._has_changed, self._saved_at = False, 0.0
        self._jars: defaultdict[str, Jar] = defaultdict(lambda: Jar(most))

    def restore(self, saved: Mapping[str, list[list[Any]]]) -> None:
        """Add the cookies that changes() has returned in an earlier process."""
        for session, values in saved.items():
            self.jar(session).restore(map(Cookie.from_values, values))

    def changes(self) -> dict[str, list[list[Any]]] | None:
        """
        Return all cookies, as JSON values by session; None if none has changed since.

        Many cookies are returned once a second at most: they are written each time.
        """
        now = self._clock()
        has_many = sum(map(len, self._jars.values())) > _FEW
        if not self._has_changed or (has_many and now - self._saved_at < 1):
            return None
        self._has_changed, self._saved_at = False, now
        return {
            session: [one.to_values() for one in jar if one.expires > now]
            for session, jar in self._jars.items()
        }

    def remove(self, session: str, cookie: Cookie) -> None:
        """Forget *cookie*, unless another one has replaced it."""
        self.jar(session).remove(cookie)

    def jar(self, session: str = "") -> Jar:
        return self._jars[session]

    def before_download(self, request: Request) -> Request:
        if not self._jars or "cookie" in request.headers:
            return request
        kept = self.jar(session_of(request)).sent_to(Place.of(request.url), self._clock())
        added = [(one.name, one.value) for one in kept if one.name not in request.cookies]
        if not added:
            return request
        pairs = "; ".join(f"{name}={value}" for name, value in [*request.cookies.items(), *added])
        return adding(request, {"Cookie": pairs}, cookies={})

    def after_download(self, response: Response) -> Response:
        fields = response.headers.all("set-cookie")
        if fields and "cached" not in response.flags:
            session = session_of(response.request)
            place, now = Place.of(response.url), self._clock()
            for field in fields[-_MOST_PER_DOMAIN:]:  # of more, the first would be dropped
                cookie = read_cookie(field, place, now)
                if cookie is not None and self.jar(session).put(cookie, place, now):
                    self._has_changed = True
                    self.on_set(session, response.url, cookie)
        return response

    def __repr__(self) -> str:
        jars = ", ".join(f"{name!r}: {len(jar)}" for name, jar in self._jars.items())
        return f"<Cookies {{{jars}}}>"


class Jar:
    """The cookies of one session, by registered domain, in the order in which they were set."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._count = self._size = 0
        #: Ordered by the last request: the domain that was requested least recently is the first.
        self._domains: dict[str, dict[object, Cookie]] = {}

    def put(self, cookie: Cookie, place: Place, now: float) -> bool:
        """
        Keep a *cookie* that *place* has set; an expired one deletes the cookie it replaces.

        Returns whether *place* may set it.
        """
        domain = urls.registered_domain(place.host)
        cookies = self._domains.pop(domain, {})
        may_set = place.secure or not any(_is_shadowed(one, cookie) for one in cookies.values())
        if may_set:
            self._set(cookies, cookie, now)
        if cookies:
            self._domains[domain] = cookies
        self._make_room()
        return may_set

    def remove(self, cookie: Cookie) -> None:
        """Forget *cookie*, unless another one has replaced it."""
        cookies = self._domains.get(urls.registered_domain(cookie.domain), {})
        key = _key(cookie)
        if cookies.get(key) == cookie:
            self._drop(cookies, key)

    def sent_to(self, place: Place, now: float) -> list[Cookie]:
        """Return the cookies to send to *place*, those with longer paths first."""
        domain = urls.registered_domain(place.host)
        if domain not in self._domains:
            return []
        cookies = self._domains[domain] = self._domains.pop(domain)
        fit = [one for one in cookies.values() if one.expires > now and one.is_for(place)]
        return sorted(fit, key=lambda one: -len(one.path))

    def restore(self, cookies: Iterable[Cookie]) -> None:
        """Add *cookies*, in the order in which they were set."""
        for cookie in cookies:
            domain = self._domains.setdefault(urls.registered_domain(cookie.domain), {})
            self._set(domain, cookie, now=0.0)
        self._make_room()

    def clear(self) -> None:
        self._domains.clear()
        self._count = self._size = 0

    def __iter__(self) -> Iterator[Cookie]:
        for cookies in self._domains.values():
            yield from cookies.values()

    def __len__(self) -> int:
        return self._count

    def _set(self, cookies: dict[object, Cookie], cookie: Cookie, now: float) -> None:
        key = _key(cookie)
        if cookie.expires > now:
            self._count += key not in cookies
            self._size += _size(cookie) - (_size(cookies[key]) if key in cookies else 0)
            cookies[key] = cookie
        elif key in cookies:
            self._drop(cookies, key)
        if len(cookies) > _MOST_PER_DOMAIN:
            expired = [old for old, one in cookies.items() if one.expires <= now]
            for old in expired or [next(iter(cookies))]:
                self._drop(cookies, old)

    def _drop(self, cookies: dict[object, Cookie], key: object) -> None:
        self._count -= 1
        self._size -= _size(cookies.pop(key))

    def _make_room(self) -> None:
        while self._count > self._most or self._size > _LARGEST:
            dropped = self._domains.pop(next(iter(self._domains)))
            self._count -= len(dropped)
            self._size -= sum(map(_size, dropped.values()))


def _size(cookie: Cookie) -> int:
    return len(cookie.name) + len(cookie.value)


def _key(cookie: Cookie) -> object:
    return cookie.name, cookie.domain, cookie.port, cookie.path


def _ignore(_session: str, _url: str, _cookie: Cookie) -> None:
    """Do nothing: nobody listens."""


def _is_shadowed(old: Cookie, new: Cookie) -> bool:
    """Return whether *new*, set over plain HTTP, would replace a secure cookie."""
    if not old.secure or old.name != new.name:
        return False
    related = domain_matches(old.domain, new.domain) or domain_matches(new.domain, old.domain)
    return related and path_matches(new.path, old.path)
