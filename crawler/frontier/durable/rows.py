"""Rows: the URLs of a job, and what is known of its hosts, as SQLite stores them."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import mmh3

from ... import url as urls
from ...credentials import without_credentials
from ...data import Link, Request, new_id
from ...errors import InvalidURL
from ...serialization import request_from_dict, request_to_dict
from ..admission.fingerprint import Fingerprint
from ..outcome import Outcome

SELECT = "id, key, url, host, depth, priority, found_on, more, seal, progress"

#: What waits for a host behind a rank.
NEXT = f"""
SELECT {SELECT} FROM urls
WHERE status IS NULL AND host = ? AND (-priority, depth, id) > (?, ?, ?)
ORDER BY -priority, depth, id LIMIT ?
"""  # noqa: S608 - nothing but constants

#: More than an integer of SQLite can be.
_TOO_LARGE = 2**63

#: The status of a row that records why its URL was not admitted; it does not count as seen.
TURNED_AWAY = "turned_away"
#: Reasons that depend on the page where a link was found, and not on its URL alone: the page asks
#: not to follow it, or a middleware has dropped it.
OF_ITS_PAGE = frozenset({"nofollow", "middleware"})

#: A place in a queue: the smallest comes first.
Rank = tuple[int, int, int]


class Row(NamedTuple):
    """A URL that waits, as NEXT selects it."""

    id: int
    key: bytes
    url: str
    host: str
    depth: int
    priority: int
    found_on: str | None
    more: str | None
    seal: int
    progress: str | None

    @property
    def is_whole(self) -> bool:
        return self.seal == seal(*self[:8])

    @property
    def rank(self) -> Rank:
        return (-self.priority, self.depth, self.id)


def seal(*values: Any) -> int:
    """Return a hash by which a damaged row is recognized."""
    return mmh3.hash(repr(values))


def rank_of(request: Request) -> Rank:
    return (-request.priority, request.depth, number_of(request))


def number_of(request: Request) -> int:
    """Return the number of the row of *request*: its id is the same, in hexadecimal."""
    return int(request.id, 16)


def number(text: str) -> int:
    """Return the number that an id stands for; -1 if new_id() cannot have made it."""
    try:
        value = int(text, 16)
    except ValueError:
        return -1
    return value if f"{value:x}" == text and value < _TOO_LARGE else -1


def inserted(request: Request, host: str, key: bytes, *, plain: bool = False) -> tuple[Any, ...]:
    """
    Return the row of a new request; *key* is its fingerprint.

    A *plain* request has no other fields than a link.
    """
    known = _described(request, host, key, None if plain else _more(request))
    return (*known, time.time(), seal(*known))


def plain(request: Request, host: str, fingerprint: Fingerprint) -> tuple[Any, ...]:
    """Return the row of a new request of which only the fields that a link has are kept."""
    return inserted(request, host, key_of(request, fingerprint), plain=True)


def turned_away(link: Request | Link, host: str, key: bytes, reason: str) -> tuple[Any, ...]:
    """Return the row of a URL that was not admitted: it ends with its insertion."""
    number, now = int(new_id(), 16), time.time()
    found_on = None if link.found_on is None else text_of(link.found_on)
    known = (number, key, text_of(without_credentials(link.url)), host, link.depth, 0, found_on)
    end = (TURNED_AWAY, reason, now, seal(number, TURNED_AWAY, reason, None))
    return (*known, now, seal(*known, None), *end)


def moved(request: Request, host: str, key: bytes) -> tuple[Any, ...]:
    """Return what changes in the row of *request* when it was found at a smaller depth."""
    known = _described(request, host, key, _more(request))
    return (known[0], request.depth, known[6], seal(*known))


def ended(
    number: int, outcome: Outcome, request: Request | None = None, answer: Sequence[Any] = ()
) -> tuple[Any, ...]:
    """Return the end of a row; *answer* is the code, size and seconds of the last response."""
    status, reason = outcome.status, outcome.reason
    code, size, seconds = answer or (None, None, None)
    redirects = attempts = None
    if request is not None and (request.redirects or request.attempts or outcome.detail):
        chain = (*request.redirects[1:], request.url) if request.redirects else ()
        last = (outcome.detail,) if outcome.detail else ()
        redirects, attempts = _json(chain), _json((*request.attempts, *last))
    end = (number, status, reason, code, size, seconds, redirects, attempts, time.time())
    return (*end, seal(number, status, reason, redirects))


def waits_again(request: Request) -> tuple[Any, ...]:
    so_far = [request.url, [*request.redirects], [*request.attempts]]
    return number_of(request), _json(sealed(number_of(request), *so_far)[1:])


def sealed(*values: Any) -> tuple[Any, ...]:
    return (*values, seal(*values))


def request_of(row: Row) -> Request:
    """Return the request that waits in *row*, with its redirects and attempts so far."""
    request = request_from_dict(
        {
            **(json.loads(row.more) if row.more else {}),
            "url": row.url,
            "depth": row.depth,
            "priority": row.priority,
            "found_on": row.found_on,
            "id": f"{row.id:x}",
        }
    )
    if row.progress:
        url, redirects, attempts = progress_of(row.id, row.progress)
        request = request.replace(url=url, redirects=tuple(redirects), attempts=tuple(attempts))
    return request


def progress_of(number: int, text: str) -> tuple[str, list[str], list[str]]:
    """Return the URL, the redirects and the attempts of a request that waits again."""
    url, redirects, attempts, its_seal = json.loads(text)
    if its_seal != seal(number, url, redirects, attempts):
        raise ValueError(f"the progress of row {number} was changed")
    return url, redirects, attempts


def hops_of(number: int, progress: str | None, redirects: str | None) -> list[str]:
    """Return the URLs a request was redirected to, as its row has them."""
    if progress:
        url, chain, _ = progress_of(number, progress)
        return [*chain[1:], url] if chain else []
    return list(json.loads(redirects)) if redirects else []


def key_of(request: Request, fingerprint: Fingerprint) -> bytes:
    """Return the fingerprint of *request* at the URL that it was admitted with."""
    return fingerprint(request, _canonical(_first_url(request)))


def key_of_link(url: str, fingerprint: Fingerprint) -> bytes:
    """Return the fingerprint of a link to *url*."""
    return fingerprint.of(_canonical(without_credentials(url)))


def _canonical(url: str) -> str:
    try:
        return urls.canonicalize(url)
    except InvalidURL:
        return url


def turned_away_key(key: bytes, reason: str) -> bytes:
    """
    Return what a URL that was turned away is remembered by, so that it has one row as such.

    A link that is turned away because of one page may be turned away for its own sake on another:
    it has a row of each kind, since a change of scope brings back only the latter.
    """
    return key[::-1] if reason in OF_ITS_PAGE else key


def text_of(url: str) -> str:
    """Return *url* as text that SQLite can store."""
    return url if url.isascii() else url.encode("utf-8", "replace").decode()


def _described(request: Request, host: str, key: bytes, more: str | None) -> tuple[Any, ...]:
    return (
        number_of(request),
        key,
        text_of(_first_url(request)),
        host,
        request.depth,
        request.priority,
        None if request.found_on is None else text_of(request.found_on),
        more,
    )


def _first_url(request: Request) -> str:
    return request.redirects[0] if request.redirects else request.url


#: Fields that have a column of their own.
_COLUMNS = {"url", "depth", "priority", "found_on", "id", "redirects", "attempts"}


def _more(request: Request) -> str | None:
    fields = request_to_dict(request)
    more = {name: value for name, value in fields.items() if name not in _COLUMNS}
    return _json(more) if more else None


def _json(value: Any) -> str:
    # In ASCII: pages have lone surrogates, which SQLite cannot store.
    return json.dumps(value, separators=(",", ":"))
