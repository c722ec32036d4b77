"""Journal: what a frontier records of its decisions, so that another process can continue."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from ...data import Link, Request
from ..admission.fingerprint import Fingerprint
from ..admission.seen import Seen
from ..admission.traps import TrapGuard
from ..contract import FrontierContract
from ..hosts.host import HostFacts
from ..hosts.overflow import NoOverflow, Overflow
from ..hosts.robots_cache import RobotsFacts
from ..ledger import Ledger
from ..outcome import Outcome


class PageEnd(NamedTuple):
    """
    The end of a request, handed over as one value.

    *answer* is the status code, the bytes and the seconds of its last response.
    """

    request: Request
    outcome: Outcome
    answer: tuple[int, int, float] | None = None


class NearerFind(NamedTuple):
    """A URL, by its fingerprint *key*, was found at a smaller *depth* than it was fetched at."""

    key: bytes
    depth: int
    found_on: str | None


@dataclass
class Restored:
    """
    What an earlier process has left; empty if there was none.

    *fingerprint* is the one to be used from now on. *figures* are those that the frontier
    committed last, *suspects* the ids of requests during whose analysis a process died.
    """

    fingerprint: Fingerprint
    ledger: Ledger = field(default_factory=Ledger)
    seen: Seen | None = None
    figures: dict[str, Any] = field(default_factory=dict)
    hosts: Iterable[HostFacts] = ()
    robots: Iterable[RobotsFacts] = ()
    suspects: frozenset[str] = frozenset()


class Marks(Protocol):
    """Marks that are there at once, and beyond the life of the process."""

    def begin(self, request: Request) -> None:
        """Mark *request* as under analysis."""

    def end(self, request: Request) -> None:
        """Remove that mark."""


class NoMarks:
    """Marks nothing."""

    def begin(self, request: Request) -> None:
        """Do nothing."""

    def end(self, request: Request) -> None:
        """Do nothing."""


class Journal(Protocol):
    """
    Records the decisions of a frontier in their order.

    What was recorded before a crash is there after it, up to some moment: a request that was
    admitted before that moment and had not ended by then waits again.
    """

    @property
    def overflow(self) -> Overflow:
        """Where requests wait that do not fit in memory."""

    @property
    def marks(self) -> Marks:
        """Which requests are under analysis, in case that the process dies of one."""

    def restore(self, traps: TrapGuard, fingerprint: Fingerprint) -> Restored:
        """
        Return what an earlier process has left, and count its URLs in *traps*.

        *fingerprint* is used if there was none.
        """

    def turned_away_before(self) -> Iterable[tuple[Link, str]]:
        """Yield the links that earlier processes have turned away, and why."""

    def include(self, name: str, figures: Callable[[], Any]) -> None:
        """Commit what *figures* returns, as JSON, by *name* with each group; None is left out."""

    def admitted(
        self, found: Request | Link, key: bytes, host: str, awaited_by: str | None
    ) -> Request | Link:
        """Record that *found*, with the fingerprint *key*, waits; return it as it is to wait."""

    def turned_away(self, found: Request | Link, reason: str, host: str) -> None:
        """Record that *found* was not admitted."""

    def cut_off(self, found: Request | Link, reason: str, host: str) -> None:
        """Record that *found* is not fetched because a limit is reached: a later process may."""

    def found_nearer(self, request: Request, host: str) -> None:
        """Record that *request*, which waits, was found at a smaller depth."""

    def sends(self, found: Request | Link, url: str) -> bool:
        """Return whether *found*, at its canonical *url*, belongs to another frontier, which gets it."""

    def moves(self, hop: Request) -> Outcome | None:
        """
        Return None if *hop*, where a request was redirected to, waits in this frontier.

        MOVED means that another frontier has it; another outcome, that it ends here because no
        frontier can have it.
        """

    def waits_again(self, request: Request) -> None:
        """Record how far *request* has got: its redirects and attempts, and what they have produced."""

    def put_back(self, request: Request) -> None:
        """Forget what *request* has produced since its last step, from where it begins anew."""

    def ended(self, end: PageEnd) -> None:
        """Record the end of a page, with what it has produced since its last step."""

    def fetched_aside(self, request: Request) -> None:
        """Record the exchanges of *request*, which was not admitted: that of a robots.txt, say."""

    def learned(self, facts: HostFacts | RobotsFacts | NearerFind) -> None:
        """Record what is known of a host or an origin, or of a URL beside its own story."""

    def wait_for_room(self) -> None:
        """Wait while more has been done than a crash may undo."""

    def finish(self) -> None:
        """Record all there is, and read nothing more from the overflow."""


class CrawlJournal(Protocol):
    """What a scheduler needs of that in which its crawl is recorded."""

    #: How URLs that were seen are remembered: the setting of this name.
    duplicate_filter: str

    def open_frontier(self, make: Callable[..., FrontierContract]) -> FrontierContract:
        """Return the frontier of the crawl; *make* takes a journal, and returns its frontier."""

    def fact(self, name: str) -> Any:
        """Return the value that was last committed as *name*; None if there is none."""

    def include(self, name: str, figures: Callable[[], Any]) -> None:
        """Do what Journal.include() does."""

    def fetched_aside(self, request: Request) -> None:
        """Do what Journal.fetched_aside() does."""

    def write_figures(self) -> None:
        """Commit the figures of this moment."""

    def commit_figures(self) -> dict[str, Any]:
        """Return the figures of commits for a summary: see Durations; {} if there are none."""


class NullJournal:
    """Records nothing: the crawl ends with its process."""

    overflow: Overflow = NoOverflow()
    marks: Marks = NoMarks()

    def restore(self, _traps: TrapGuard, fingerprint: Fingerprint) -> Restored:
        return Restored(fingerprint)

    def turned_away_before(self) -> Iterable[tuple[Link, str]]:
        return ()

    def admitted(
        self, found: Request | Link, _key: bytes, _host: str, _awaited_by: str | None
    ) -> Request | Link:
        return found

    def sends(self, _found: Request | Link, _url: str) -> bool:
        return False

    def moves(self, _hop: Request) -> None:
        return None

    def _ignore(self, *_: Any) -> None:
        """Do nothing."""

    include = turned_away = cut_off = found_nearer = waits_again = put_back = ended = _ignore
    fetched_aside = learned = wait_for_room = finish = _ignore
