"""AwaitedRequests: pages that a callback has fetched and waits for, which end with its own page."""

from __future__ import annotations

from collections.abc import Iterator

from ...data import Request
from .batch import Step


class AwaitedRequests:
    """
    Requests that are of use to the callback of one page only.

    Nothing of them is written before their page ends: after a crash the page is fetched
    anew, and its callback asks for them again.
    """

    def __init__(self) -> None:
        #: By its id, an awaited request, its host and the page whose callback waits for it.
        self._open: dict[str, tuple[Request, str, str]] = {}
        #: By the id of a page, the awaited requests that have not ended, and those that have.
        self._waits_for: dict[str, set[str]] = {}
        self._ended: dict[str, list[Step]] = {}
        #: Awaited requests whose page waits again: its callback will ask for them again.
        self._useless: set[str] = set()

    def add(self, request: Request, page_id: str, host: str) -> None:
        self._open[request.id] = (request, host, page_id)
        self._waits_for.setdefault(page_id, set()).add(request.id)

    def host_of(self, request_id: str) -> str:
        return self._open[request_id][1]

    def __contains__(self, request_id: str) -> bool:
        return request_id in self._open

    def __len__(self) -> int:
        return len(self._open)

    def __iter__(self) -> Iterator[Request]:
        """Iterate over those that have not ended, as they were admitted."""
        return iter([request for request, _, _ in self._open.values()])

    def remove(self, request_id: str) -> None:
        *_, page_id = self._open.pop(request_id)
        self._waits_for.get(page_id, set()).discard(request_id)
        self._useless.discard(request_id)

    def is_useless(self, request_id: str) -> bool:
        """Return whether the page of an awaited request waits again, and will ask again."""
        return request_id in self._useless

    def end(self, request_id: str, end: Step) -> bool:
        """Keep *end* for the end of its page; return False if that page has ended."""
        *_, page_id = self._open[request_id]
        has_page = page_id in self._waits_for
        self.remove(request_id)
        if has_page:
            self._ended.setdefault(page_id, []).append(end)
        return has_page

    def page_ended(self, page_id: str) -> list[Step]:
        """Return what ends together with the page; what has not ended by then ends by itself."""
        self._waits_for.pop(page_id, None)
        return self._ended.pop(page_id, [])

    def page_put_back(self, page_id: str) -> None:
        """Forget what the callback of the page has waited for."""
        self._useless |= self._waits_for.pop(page_id, set())
        self._ended.pop(page_id, None)
