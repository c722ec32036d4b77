"""Admission: whether a URL may come in, decided once."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ... import url as urls
from ...data import FOR_AN_ITEM, Link, Request, Response
from ...errors import InvalidURL
from ...http.redirect import next_hop, redirect_limit
from ..budget import PAGE_LIMIT, is_begun
from ..outcome import Outcome, failed, refused
from .fingerprint import Fingerprint
from .scope import Scope
from .seen import Seen
from .traps import TrapGuard


class Decision(NamedTuple):
    """The *reason* to turn a URL away, None if it is let in; and its fingerprint, if it has one."""

    reason: str | None
    key: bytes = b""


#: The reason to turn a URL away that another frontier has got.
SENT = "sent"


class Admission:
    """
    Lets a URL in if it is in scope, new, and not part of a trap.

    *sends* is asked whether a URL in scope belongs to another frontier, and sends it there.

    A redirect hop was admitted with its request; it is checked again for where it leads.
    """

    def __init__(
        self,
        scope: Scope,
        seen: Seen,
        traps: TrapGuard,
        fingerprint: Fingerprint,
        *,
        admits_seen: bool = False,
        sends: Callable[[Request | Link, str], bool] = lambda _found, _url: False,
    ) -> None:
        self.scope = scope
        self.traps = traps
        self.seen = seen
        self.fingerprint = fingerprint
        #: Whether links are let in again and again; first requests never are.
        self.admits_seen = admits_seen
        self._sends = sends
        #: Why nothing is let in any more, if so.
        self.shut: str | None = None

    @property
    def shut_for_begun(self) -> str | None:
        """Why the pages that were begun end, too; not because of a limit of pages: they are within it."""
        return None if self.shut == PAGE_LIMIT else self.shut

    def stops(self, request: Request) -> str | None:
        """Return why *request*, which was let in, must not be fetched any more; None if it may."""
        return self.shut_for_begun if is_begun(request) else self.shut

    def decide(self, found: Request | Link) -> Decision:
        """Decide about *found*, which counts as seen from now on if it is in scope."""
        try:
            url = urls.canonicalize(found.url)
        except InvalidURL:
            return Decision("invalid")
        is_file = _is_file(found)
        scope = self.scope.for_files if is_file else self.scope
        reason = scope.refusal(url, found.depth)
        if reason is not None:
            return Decision(reason)
        if self._sends(found, url):
            return Decision(SENT)
        key = self.fingerprint(found, url)
        if not self.seen.add(key) and not self._is_let_in_again(found):
            return Decision("seen", key)
        if self.shut is not None or is_file:
            return Decision(self.shut, key)
        # A request that is made again and again on purpose is a chain, but no trap.
        depth = 0 if found.dont_filter else found.depth
        return Decision(self.traps.refusal(url, depth, found.found_on), key)

    def follows(self, request: Request) -> bool:
        """Return whether redirects of *request* are followed at all."""
        return redirect_limit(request, self.scope.max_redirects) > 0

    def hop(self, request: Request, response: Response) -> Request | Outcome:
        """Return the next hop of *request*; or the outcome that ends it here."""
        if len(request.redirects) >= redirect_limit(request, self.scope.max_redirects):
            return failed("redirect_limit")
        try:
            hop = next_hop(request, response)
            url = urls.canonicalize(hop.url)
        except InvalidURL:
            return refused("invalid")
        # A form often answers with a redirect to itself, to be fetched by GET.
        is_back = hop.method == request.method and url in map(urls.canonicalize, hop.redirects)
        if is_back and not response.headers.all("set-cookie"):
            return failed("redirect_loop")
        scope = self.scope.for_files if _is_file(hop) else self.scope
        reason = self.shut_for_begun or scope.refusal(url, hop.depth)
        # With a new cookie the same page may answer: a way back is not a page seen before.
        if reason is None and not is_back and not self._is_new(hop, url):
            reason = "seen"
        return hop if reason is None else refused(reason)

    def decide_hop(self, hop: Request) -> Decision:
        """Decide about *hop*, whose redirect another frontier has followed, with its own *seen*."""
        url = urls.canonicalize(hop.url)
        key = self.fingerprint(hop, url)
        is_back = url in map(urls.canonicalize, hop.redirects)
        is_new = self.seen.add(key) or hop.dont_filter or is_back
        return Decision(self.shut_for_begun if is_new else "seen", key)

    def _is_new(self, hop: Request, url: str) -> bool:
        is_new = self.seen.add(self.fingerprint(hop, url))
        return is_new or hop.dont_filter or self.admits_seen

    def _is_let_in_again(self, found: Request | Link) -> bool:
        # A crawl that continues has its first requests already.
        return found.dont_filter or (self.admits_seen and found.found_on is not None)


def _is_file(found: Request | Link) -> bool:
    """Return whether *found* is a file that an item names."""
    return isinstance(found, Request) and FOR_AN_ITEM in found.meta
