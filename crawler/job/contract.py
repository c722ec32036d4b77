"""CrawlJob: all that a crawl needs of the job that it is part of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any, Protocol

from ..data import Item, Request, Response
from ..errors import CrawlerError
from ..frontier import CrawlJournal
from ..http.set_cookie import Cookie

Fetch = Callable[[Request], Response]


class CrawlOutputs(Protocol):
    """Where the items and exchanges of a crawl go."""

    def keep(self, item: Item) -> object:
        """Hold the record of *item* until its page ends."""

    def around(self, fetch: Fetch) -> Fetch:
        """Return *fetch*, which then holds the exchanges that are archived."""


class CrawlCookies(Protocol):
    """The cookies of a crawl."""

    #: Called with the session, the URL that has set a cookie, and the cookie.
    on_set: Callable[[str, str, Cookie], object]

    def restore(self, saved: Mapping[str, list[list[Any]]]) -> None:
        """Add the cookies that changes() has returned, or Cookie.to_values() of each."""

    def changes(self) -> dict[str, list[list[Any]]] | None:
        """Return all cookies, as JSON values by session; None if none has changed since."""

    def remove(self, session: str, cookie: Cookie) -> None:
        """Forget *cookie*, unless another one has replaced it."""


class CrawlJob(Protocol):
    """A job in which a crawl can be interrupted at any moment, and continued."""

    #: What to do about a callback that never ends; None leaves it alone.
    on_stuck: Callable[[Request], object] | None

    @property
    def journal(self) -> CrawlJournal: ...

    @property
    def outputs(self) -> CrawlOutputs: ...

    def watch_failures(self, on_failure: Callable[[CrawlerError], object]) -> None:
        """Call *on_failure* when the crawl cannot be recorded any more."""

    def begin(self, about: Mapping[str, Any]) -> None:
        """Note what the crawl is *about*; raise an error if the job is about something else."""

    def around_fetch(
        self, fetch: Fetch, waiting: Callable[[], AbstractContextManager[None]]
    ) -> Fetch:
        """Return *fetch* as callbacks use it; what has to wait for others waits in *waiting*."""

    def keep_cookies(self, cookies: CrawlCookies) -> None:
        """Restore *cookies*, and keep those that are set."""
