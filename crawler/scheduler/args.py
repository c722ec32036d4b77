"""The arguments of Scheduler.init(); each class checks its values."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any

from ..data import Request
from ..errors import ModuleError
from ..frontier import (
    Budget,
    CrawlJournal,
    Fingerprint,
    Frontier,
    FrontierContract,
    Politeness,
    Retries,
    Scope,
    TrapGuard,
)
from ..frontier.admission.domain_hosts import MOST_HOSTS
from ..frontier.admission.seen import check_duplicate_filter
from ..frontier.admission.traps import MAX_CHAIN
from ..frontier.durable.journal import Journal
from ..http.redirect import MAX_REDIRECTS
from ..module import Analyzer, Downloader, Module, Pipeline
from .memory_guard import Memory

#: The lists of ModuleArgs, and the kind of module in each.
_KINDS: dict[str, type[Module]] = {
    "downloaders": Downloader,
    "analyzers": Analyzer,
    "pipelines": Pipeline,
}


@dataclass(frozen=True)
class RequestArgs:
    """
    Which requests belong to the crawl, and how its hosts are treated.

    The domains of the first requests are always accepted. Pages at *max_depth* are fetched;
    0 means the first requests only, None means no limit. *include* and *exclude* are regular
    expressions that are searched anywhere in a URL. *agent* is the crawler's name in robots.txt
    files. *fingerprint* is how URLs are recognized that were met before, "blake2b" or "mmh3", and
    *duplicate_filter* where they are remembered, one of DUPLICATE_FILTERS. A crawl with a
    *journal* continues the crawl that is recorded there.
    """

    accepted_domains: Collection[str] = ()
    max_depth: int | None = 0
    include: Collection[str] = ()
    exclude: Collection[str] = ()
    max_pages_per_host: int | None = None
    max_redirects: int = MAX_REDIRECTS
    max_chain: int | None = MAX_CHAIN
    max_hosts_per_domain: int | None = MOST_HOSTS
    agent: str = "crawler"
    fingerprint: str = "blake2b"
    duplicate_filter: str = "bloom"
    politeness: Politeness = field(default=Politeness())
    retries: Retries = field(default=Retries())
    budget: Budget = field(default=Budget())
    journal: CrawlJournal | None = field(default=None, repr=False, compare=False)
    scope: Scope = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        Fingerprint(self.fingerprint)
        check_duplicate_filter(self.duplicate_filter)
        scope = Scope(
            accepted_domains=self.accepted_domains,
            max_depth=self.max_depth,
            include=self.include,
            exclude=self.exclude,
            max_redirects=self.max_redirects,
        )
        object.__setattr__(self, "scope", scope)
        object.__setattr__(self, "accepted_domains", tuple(sorted(scope.accepted_domains)))

    def frontier(self, first: Iterable[str] = (), slots: int | None = None) -> FrontierContract:
        """Return a new frontier, for *slots* requests in flight, that accepts the *first* URLs' domains too."""
        make = partial(self._frontier, self.scope.including(first), slots)
        if self.journal is None:
            return make()
        self.journal.duplicate_filter = self.duplicate_filter
        return self.journal.open_frontier(make)

    def _frontier(
        self, scope: Scope, slots: int | None, journal: Journal | None = None, **parts: Any
    ) -> Frontier:
        return Frontier(
            scope,
            journal=journal,
            politeness=self.politeness,
            retries=self.retries,
            traps=TrapGuard(
                self.max_pages_per_host,
                max_chain=self.max_chain,
                max_hosts_per_domain=self.max_hosts_per_domain,
            ),
            fingerprint=Fingerprint(self.fingerprint),
            agent=self.agent,
            slots=slots,
            duplicate_filter=self.duplicate_filter,
            **{"budget": self.budget, **parts},
        )


@dataclass(frozen=True)
class DataArgs:
    """For each pool, the capacity of one buffer and the maximum number of buffers."""

    req_buffer_cap: int = 50
    req_max_buffer_number: int = 4
    resp_buffer_cap: int = 50
    resp_max_buffer_number: int = 4
    item_buffer_cap: int = 50
    item_max_buffer_number: int = 20
    error_buffer_cap: int = 50
    error_max_buffer_number: int = 20

    def __post_init__(self) -> None:
        for name in (f.name for f in fields(self)):
            size = getattr(self, name)
            if type(size) is not int or size < 1:
                raise ValueError(f"{name} must be a whole number of at least 1, not {size!r}")


@dataclass(frozen=True)
class ModuleArgs:
    """
    The modules, and the number of workers of each stage.

    *time_limit* is the number of seconds that a module may work on one datum before it is
    interrupted. A module that never yields to the hub cannot be interrupted: after three times
    the limit, *on_stuck* is called with the request, in a separate thread. *on_error* is called
    with every error of every stage, and returns requests to add. *on_add* is called with what
    add() and add_item() get, and returns what is used instead, or None to drop it. Of the links and requests that
    are found on one page, *max_links* are admitted, None means all; a sitemap may have 50,000.
    """

    downloaders: Sequence[Downloader]
    analyzers: Sequence[Analyzer]
    pipelines: Sequence[Pipeline]
    download_workers: int = 64
    analyze_workers: int = 16
    pipeline_workers: int = 16
    time_limit: float = 300.0
    max_links: int | None = 50_000
    memory: Memory = field(default=Memory())
    on_stuck: Callable[[Request], object] | None = None
    on_error: Callable[[ModuleError], Iterable[Request]] | None = None
    on_add: Callable[[Any], Any] | None = None

    def __post_init__(self) -> None:
        for name, kind in _KINDS.items():
            _check_modules(name, getattr(self, name), kind)
            object.__setattr__(self, name, tuple(getattr(self, name)))
        for name in ("download_workers", "analyze_workers", "pipeline_workers"):
            number = getattr(self, name)
            if type(number) is not int or number < 1:
                raise ValueError(f"{name} must be a whole number of at least 1, not {number!r}")
        if self.max_links is not None and (type(self.max_links) is not int or self.max_links < 1):
            raise ValueError(f"max_links must be at least 1 or None, not {self.max_links!r}")
        if not isinstance(self.time_limit, int | float) or not self.time_limit > 0:
            raise ValueError(f"time_limit must be more than 0 seconds, not {self.time_limit!r}")

    def receiving(self) -> int:
        """Return how many bytes the downloaders have received of responses that are not whole yet."""
        return sum(downloader.receiving() for downloader in self.downloaders)

    @property
    def modules(self) -> list[Module]:
        return [*self.downloaders, *self.analyzers, *self.pipelines]


def _check_modules(name: str, modules: Sequence[Module], kind: type[Module]) -> None:
    if not isinstance(modules, Sequence) or not modules:
        raise ValueError(f"{name} must be a list of at least one {kind.__name__}, not {modules!r}")
    for number, module in enumerate(modules):
        if not isinstance(module, kind):
            raise ValueError(f"{name}[{number}] must be a {kind.__name__}, not {module!r}")
    ids = [module.mid for module in modules]
    for mid in ids:
        if ids.count(mid) > 1:
            raise ValueError(f"{name} has two modules with the id {mid}")
