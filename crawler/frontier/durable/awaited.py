"""AwaitedRequests: pages that a callback has fetched and waits for, which end with its own page."""

from __future__ import annotations

from typing import Any, NamedTuple

#: Instead of the id of a page: the page waits again, and its callback will fetch anew.
_PUT_BACK = "put back"
#: Instead of the id of a page: it has ended, without waiting for this one.
_ENDED = "ended"


class AwaitedEnd(NamedTuple):
    """The rows of an awaited request, its admission and its end; and what it has produced."""

    insert: tuple[Any, ...]
    end: tuple[Any, ...]
    output: Any


class AwaitedRequests:
    """
    Requests that are of use to the callback of one page only.

    Nothing of them is written before their page ends: after a crash the page is fetched
    anew, and its callback asks for them again.
    """

    def __init__(self) -> None:
        #: By the id of an awaited request, that of the page whose callback waits for it.
        self._pages: dict[str, str] = {}
        self._hosts: dict[str, str] = {}
        #: By the id of a page, the awaited requests that have ended.
        self._ended: dict[str, list[AwaitedEnd]] = {}

    def add(self, request_id: str, page_id: str, host: str) -> None:
        self._pages[request_id] = page_id
        self._hosts[request_id] = host

    def host_of(self, request_id: str) -> str:
        return self._hosts[request_id]

    def __contains__(self, request_id: str) -> bool:
        return request_id in self._pages

    def remove(self, request_id: str) -> None:
        del self._pages[request_id], self._hosts[request_id]

    def is_useless(self, request_id: str) -> bool:
        """Return whether the page of an awaited request waits again, and will ask again."""
        return self._pages[request_id] == _PUT_BACK

    def end(self, request_id: str, end: AwaitedEnd) -> bool:
        """Keep *end* for the end of its page; return False if that page has ended."""
        page_id = self._pages[request_id]
        self.remove(request_id)
        if page_id == _ENDED:
            return False
        self._ended.setdefault(page_id, []).append(end)
        return True

    def page_ended(self, page_id: str) -> list[AwaitedEnd]:
        """Return what ends together with the page."""
        self._orphan(page_id, _ENDED)
        return self._ended.pop(page_id, [])

    def page_put_back(self, page_id: str) -> None:
        """Forget what the callback of the page has waited for."""
        self._orphan(page_id, _PUT_BACK)
        self._ended.pop(page_id, None)

    def _orphan(self, page_id: str, state: str) -> None:
        for request_id, page in self._pages.items():
            if page == page_id:
                self._pages[request_id] = state
