"""The error pool: every consumer gets every error, and nobody has to."""

from __future__ import annotations

from collections.abc import Iterator

from ..buffer import Pool, PoolFigures
from ..errors import CrawlerError, PoolClosed


class Mailbox:
    """One consumer's errors; *rest* is what was unread when the pool closed."""

    def __init__(self, buffer_cap: int, max_buffer_number: int) -> None:
        self.pool = Pool[CrawlerError](buffer_cap, max_buffer_number)
        self.claimed = False
        self.rest: list[CrawlerError] = []


class ErrorPool:
    """
    Never blocks whoever reports an error.

    Errors wait in a mailbox that the first consumer claims; each further consumer gets
    one of its own. A full mailbox loses its oldest error, which is counted in *dropped*.
    """

    def __init__(self, buffer_cap: int, max_buffer_number: int) -> None:
        self._sizes = (buffer_cap, max_buffer_number)
        self._mailboxes = [Mailbox(*self._sizes)]
        self.closed = False
        self.reported = 0
        self.dropped = 0

    def report(self, error: CrawlerError) -> None:
        self.reported += 1
        for mailbox in self._mailboxes:
            self.dropped += mailbox.pool.push(error)

    def consume(self) -> Iterator[CrawlerError]:
        """Return a generator of all errors from now on, and of those nobody has claimed."""
        mailbox = self._mailboxes[0]
        if mailbox.claimed:
            mailbox = Mailbox(*self._sizes)
            self._mailboxes.append(mailbox)
            if self.closed:
                mailbox.pool.close()
        mailbox.claimed = True
        return self._read(mailbox)

    def close(self) -> None:
        """Let every consumer read what is left and end."""
        self.closed = True
        for mailbox in self._mailboxes:
            mailbox.rest += mailbox.pool.close()

    def figures(self) -> PoolFigures:
        """Return the figures of the consumer that is furthest behind."""
        return max((m.pool.figures() for m in self._mailboxes), key=lambda figures: figures.total)

    def _read(self, mailbox: Mailbox) -> Iterator[CrawlerError]:
        try:
            while True:
                yield mailbox.pool.get()
        except PoolClosed:
            while mailbox.rest:
                yield mailbox.rest.pop(0)
        finally:
            self._leave(mailbox)

    def _leave(self, mailbox: Mailbox) -> None:
        self._mailboxes.remove(mailbox)
        if not self._mailboxes:
            self._mailboxes.append(Mailbox(*self._sizes))
            if self.closed:
                self._mailboxes[0].pool.close()
