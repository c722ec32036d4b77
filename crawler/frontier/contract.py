"""The frontier's contract: all that the rest of the crawler may use of one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from ..data import Link, Links, Request, Response
from ..errors import ModuleError
from .budget import Budget
from .hosts.host import Host, HostFigures
from .hosts.slot_shares import Flight
from .ledger import UrlCounts
from .outcome import Outcome


def _ignore(_request: Request, _what: object) -> None:
    """Do nothing: nobody listens."""


class Next(Enum):
    """What comes after a fetch that is not the end of its request."""

    ANALYZE = "analyze"
    AGAIN = "again"


class Taken:
    """
    A request from take() until it is settled, put back, or waits again (retry, redirect hop).

    Until fetched() it occupies a place of its *host*: *is_in_flight*. One that has a *failure*
    is not to be fetched: it failed while it waited, and is to be settled so. The frontier
    alone changes it.
    """

    __slots__ = (
        "answer",
        "failure",
        "flight",
        "host",
        "is_heavy",
        "is_in_flight",
        "is_over",
        "is_robots",
        "is_suspect",
        "request",
    )

    def __init__(
        self,
        request: Request,
        host: Host,
        *,
        failure: ModuleError | None = None,
        is_robots: bool = False,
        is_suspect: bool = False,
    ) -> None:
        self.request = request
        self.host = host
        self.failure = failure
        #: Whether it was not admitted, but asks for a robots.txt.
        self.is_robots = is_robots
        #: Whether a process has died during its analysis: no other page is analysed beside it.
        self.is_suspect = is_suspect
        self.is_in_flight = failure is None
        #: Its part in the share of the slots that its host has.
        self.flight: Flight | None = None
        #: Whether its page takes much memory or time until it is over.
        self.is_heavy = False
        #: Whether it was settled, put back, or waits again.
        self.is_over = False
        #: Status code, bytes and seconds of the response that ended its fetch.
        self.answer: tuple[int, int, float] | None = None

    def __repr__(self) -> str:
        state = "over" if self.is_over else "in flight" if self.is_in_flight else "fetched"
        return f"<Taken {self.request}, {state}>"


@dataclass
class Events:
    """
    *on_drop* is called with each request that is refused before it was taken.

    *on_recall* is called with a function when the requests in flight for which it returns True must
    not go on: their transfers are to be closed at once, and they are to be put back.
    """

    on_drop: Callable[[Request, Outcome], object] = _ignore
    on_recall: Callable[[Callable[[Taken], bool]], object] = bool

    def clear(self) -> None:
        self.on_drop = _ignore
        self.on_recall = bool


class FrontierView(Protocol):
    """The figures of a frontier, for people and programs that watch it; nothing changes here."""

    @property
    def idle(self) -> bool:
        """Whether nothing is outstanding."""

    @property
    def paused(self) -> bool: ...

    @property
    def retries(self) -> Counter[str]:
        """How many fetches were tried again, by what had failed."""

    @property
    def moved(self) -> int:
        """How many pages are known to have moved for good."""

    def counts(self) -> UrlCounts: ...

    def samples(self) -> dict[str, list[str]]:
        """Return the first few URLs that failed, were refused or turned away, by reason."""

    def hosts(self, most: int = 20) -> list[HostFigures]:
        """Return the figures of the hosts with the most requests waiting or in flight."""

    def host_states(self) -> Counter[str]:
        """Return how many hosts are in each of HOST_STATES; others run while many are counted."""

    def waiting_for(self) -> str:
        """Return in one line what the next request waits for."""

    def resting(self) -> str:
        """
        Return why the host that is due first is not due yet; "" if it is.

        If no host is due at any time, because all have as many requests in flight as they may
        have: why they may not have more; "" if that is the usual number.
        """

    def next_wake(self) -> float | None:
        """Return the seconds until the next request is due; None if none waits for its time."""

    def is_alone(self, taken: Taken) -> bool:
        """Return whether no other domain than that of *taken* has work."""

    def __len__(self) -> int:
        """How many requests wait."""


class FrontierContract(Protocol):
    """
    Which request may be fetched, and when.

    A request is outstanding from admit() to settle(), and is settled once. admit() never
    blocks; take() does, until a request is due.
    """

    @property
    def events(self) -> Events: ...

    @property
    def view(self) -> FrontierView: ...

    @property
    def budget(self) -> Budget: ...

    @property
    def resumed(self) -> bool:
        """Whether it continues what an earlier process has left."""

    def admit(
        self, found: Request | Link, page: Taken | None = None, *, is_awaited: bool = False
    ) -> str | None:
        """
        Let *found* in, or return the reason why not.

        *page* is where it was found; None if it was found on no page. If it *is_awaited*, the
        callback of that page waits for it: the two are recorded together.
        """

    def admit_many(self, links: Links, page: Taken | None = None) -> None:
        """Let in those *links* of *page* that are new and in scope; count the others."""

    def leave_out(self, links: Links, page: Taken) -> None:
        """Count *links* of *page* as turned away for their *refusal*, without a record of each."""

    def take(self) -> Taken:
        """
        Return the next request that is due or has failed, after a wait.

        Raises FrontierClosed when closed.
        """

    def fetched(self, taken: Taken, result: Response | ModuleError) -> Next | Outcome:
        """
        End the fetch of *taken*, from where the delay of its host counts.

        ANALYZE passes the response on; AGAIN means that the request waits once more, as a
        retry or a redirect hop; an outcome is how the caller must settle it.
        """

    def begin_analysis(self, taken: Taken) -> None:
        """Mark *taken* as under analysis, for the case that the process dies of it."""

    def end_analysis(self, taken: Taken) -> None:
        """Remove that mark."""

    def mark_heavy(self, taken: Taken, *, is_heavy: bool = True) -> None:
        """
        Note that the page of *taken* takes much memory or time until it is over, or not any more.

        From a domain with several such pages, no request is taken.
        """

    def settle(self, taken: Taken, outcome: Outcome) -> None:
        """End *taken* for good."""

    def put_back(self, taken: Taken) -> None:
        """Let *taken* wait again, past admission."""

    def join(self, timeout: float | None = None) -> bool:
        """Wait until nothing is outstanding, or it is closed; return whether nothing is."""

    def close(self) -> None:
        """Wake all waiters; what is outstanding stays counted as pending."""

    def pause(self, host: str | None = None) -> None:
        """Let nothing be taken (of *host*) until resume()."""

    def resume(self, host: str | None = None) -> None:
        """Undo pause()."""

    def set_delay(self, host: str, seconds: float) -> None:
        """Leave *seconds* between requests to *host* from now on; never less than its Crawl-delay."""

    def cut_off(self, reason: str) -> None:
        """
        Let nothing more be taken or admitted, and settle all that waits as refused.

        If much waits, other greenlets run meanwhile, and the last of it is settled later.
        """


class ShardView(FrontierView, Protocol):
    """The figures of one of several frontiers."""

    @property
    def begun(self) -> int:
        """How many pages were begun."""

    @property
    def taken(self) -> int:
        """How many requests are taken and not over."""


class ShardContract(FrontierContract, Protocol):
    """One of several frontiers: one greenlet takes from all of them, and requests move between them."""

    @property
    def view(self) -> ShardView: ...

    def admit_guest(self, found: Request) -> str | None:
        """Let in *found*, for which a callback of another frontier's page waits."""

    def move_in(self, hop: Request) -> None:
        """Continue with a redirect hop that was admitted by another frontier."""

    def take_due(self) -> Taken | None:
        """Return the next request if one is due or has failed; never wait."""

    def next_due(self, now: float) -> float | None:
        """Return when to take again, after nothing was due; None is when something changes."""
