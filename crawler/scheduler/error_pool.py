"""ErrorPool: every consumer gets every error; a crawl works without consumers too."""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Iterator

from ..buffer import Pool, PoolFigures
from ..errors import CrawlerError, FetchError, ModuleError, PoolClosed


class Mailbox:
    """The errors for one consumer; *rest* are those that were unread when the pool was closed."""

    def __init__(self, buffer_cap: int, max_buffer_number: int) -> None:
        self.pool = Pool[CrawlerError](buffer_cap, max_buffer_number)
        self.rest: list[CrawlerError] = []


class ErrorPool:
    """
    Collects errors without ever blocking the code that reports them.

    Errors wait in a mailbox that the first consumer claims; each further consumer gets a
    mailbox of its own. The last consumer to leave gives its mailbox back, for the next one to
    claim. A full mailbox loses its oldest error, which is counted in *dropped*. A reported
    error keeps no page in memory: there may be any number of errors that nobody reads.
    """

    def __init__(self, buffer_cap: int, max_buffer_number: int) -> None:
        self._sizes = (buffer_cap, max_buffer_number)
        self._claimed: list[Mailbox] = []
        #: There is one whenever there is no consumer.
        self._unclaimed: Mailbox | None = Mailbox(*self._sizes)
        self.closed = False
        self.reported = 0
        #: The number of errors that were reported, by kind.
        self.by_kind: Counter[str] = Counter()
        self.dropped = 0

    def report(self, error: CrawlerError) -> None:
        _forget_locals(error)
        self.reported += 1
        self.by_kind[_kind(error)] += 1
        for mailbox in self._mailboxes:
            self.dropped += mailbox.pool.push(error)

    def consume(self) -> Iterator[CrawlerError]:
        """Return a generator of all errors from now on, after those that nobody has claimed."""
        mailbox = self._unclaimed or Mailbox(*self._sizes)
        if self.closed:
            mailbox.pool.close()
        self._unclaimed = None
        self._claimed.append(mailbox)
        reader = self._read(mailbox)
        next(reader)
        return reader

    def close(self) -> None:
        """Let every consumer read the remaining errors and end."""
        self.closed = True
        for mailbox in self._mailboxes:
            mailbox.rest += mailbox.pool.close()

    def figures(self) -> PoolFigures:
        """Return the figures of the consumer that is furthest behind."""
        return max((m.pool.figures() for m in self._mailboxes), key=lambda figures: figures.total)

    def _read(self, mailbox: Mailbox) -> Iterator[CrawlerError]:
        try:
            # consume() starts this generator: one that never started would not run its `finally`.
            yield None  # type: ignore[misc]
            while True:
                yield mailbox.pool.get()
        except PoolClosed:
            while mailbox.rest:
                yield mailbox.rest.pop(0)
        finally:
            self._leave(mailbox)

    @property
    def _mailboxes(self) -> list[Mailbox]:
        return self._claimed if self._unclaimed is None else [self._unclaimed]

    def _leave(self, mailbox: Mailbox) -> None:
        self._claimed.remove(mailbox)
        if not self._claimed:
            self._unclaimed = mailbox


def _kind(error: CrawlerError) -> str:
    return error.kind if isinstance(error, ModuleError) else type(error).__name__


def _forget_locals(error: BaseException) -> None:
    """Release the local variables that the tracebacks of *error* and of what led to it keep alive."""
    # The frame that caught the error explains nothing, and cannot be cleared while it runs.
    error.__traceback__ = None
    known: set[int] = set()
    waiting = [error.__cause__, error.__context__]
    while waiting:
        cause = waiting.pop()
        if cause is None or id(cause) in known:
            continue
        known.add(id(cause))
        traceback.clear_frames(cause.__traceback__)
        if isinstance(cause, FetchError):
            # No line of code explains it, and its frames keep those that still run here.
            cause.__traceback__ = None
        waiting += (cause.__cause__, cause.__context__)
        if isinstance(cause, BaseExceptionGroup):
            waiting += cause.exceptions
