"""Recovery: what the last process has left in a store, checked row by row."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import mmh3

from ... import url as urls
from ...data import ids_above
from ...errors import JobError
from ..admission.fingerprint import SIZE, Fingerprint
from ..admission.seen import CAPACITY, BloomSeen, Seen, make_seen
from ..admission.traps import TrapGuard, UrlGroup
from ..budget import CUT_OFF
from ..hosts.host import HostFacts
from ..hosts.robots_cache import RobotsFacts
from ..ledger import Ledger, UrlCounts
from ..outcome import Outcome, failed
from .key_log import KeyLog
from .plain_rows import PlainRows, plain_rows
from .reopening import FailedPages, has_rows, repair, requeue, retry, strike
from .rows import SELECT, TURNED_AWAY, Row, hops_of, seal, sealed, turned_away_key
from .schema import INDEX, damaged
from .store import Store

_COUNTS = """
SELECT count(*), count(*) FILTER (WHERE status IS NULL), max(id),
    count(*) FILTER (WHERE status IS 'turned_away'), count(*) FILTER (WHERE status IS 'refused')
FROM urls
"""
#: From so many rows on, those that need no reading are not read, if their keys are in the KeyLog.
MANY = 500_000
#: Rows that have ended well at the first attempt, and those that wait for their first one.
_PLAIN_DONE = "(progress IS NULL AND redirects IS NULL AND status IS 'done')"
_PLAIN = f"({_PLAIN_DONE} OR (progress IS NULL AND redirects IS NULL AND status IS NULL))"
#: Rows that no version of the crawler has written.
_STRANGE = """
typeof(key) != 'blob' OR length(key) != 16 OR typeof(url) != 'text'
    OR typeof(host) != 'text' OR typeof(depth) != 'integer'
    OR typeof(priority) NOT IN ('integer', 'real')
"""
#: The columns of SELECT, how a row ended, and whether it is strange.
_ROWS = f"SELECT {SELECT}, status, reason, end_seal, redirects, ({_STRANGE}) FROM urls"  # noqa: S608
#: No seal protects the index: it is made anew if it is needed.
_NO_INDEX = "DROP INDEX IF EXISTS waiting"
#: How many rows wait for each host; quickly with the index.
_BY_HOST = "SELECT host, count(*) FROM urls WHERE status IS NULL GROUP BY host"
_BEFORE_ALL = -(2**63)
#: The number in the KeyLog of all commits before this process.
_EARLIER = 0

Values = tuple[Any, ...]


@dataclass
class Recovered:
    """
    What a store knows: the filter of seen URLs, the counts, and what waits.

    *turned_away* holds the URLs that have a row as such. *waiting* are the rows themselves,
    unless there are too many; then *by_host* has the number of each host. *damaged* rows
    were set aside or reopened; *struck_out* pages have ended the process too often;
    *suspects* are the ids of those during whose analysis it ended, and *ended_at_unknown* says that
    it ended at one that was not committed yet. *lost_commits* were made but are not there.
    *counts* are those of that moment; the ledger continues from them.
    """

    fingerprint: Fingerprint
    seen: Seen = field(default_factory=BloomSeen)
    turned_away: BloomSeen = field(default_factory=lambda: BloomSeen(capacity=100_000))
    ledger: Ledger = field(default_factory=Ledger)
    waiting: list[Row] = field(default_factory=list)
    by_host: Counter[str] = field(default_factory=Counter)
    figures: dict[str, Any] = field(default_factory=dict)
    damaged: int = 0
    struck_out: int = 0
    suspects: frozenset[str] = frozenset()
    ended_at_unknown: bool = False
    lost_commits: int | None = 0
    counts: UrlCounts = field(default_factory=UrlCounts)


def recover(
    store: Store,
    traps: TrapGuard,
    fingerprint: Fingerprint,
    *,
    window: int,
    retried: FailedPages | None = None,
    duplicate_filter: str = "bloom",
    many: int = MANY,
) -> Recovered:
    """
    Read all of *store*, repair what can be repaired, and let new ids start above the last one.

    *fingerprint* is used from now on if the store has no row yet. Pages among *retried* wait
    again. A store with *many* rows is read by SQL where that is possible: the seals of rows that
    wait are then checked when their turn comes, and those of plain ends are not.
    """
    with store.change_all() as change:
        if retried is not None:
            retry(change, retried)
        rows, waiting, last, away, refused = next(store.rows(_COUNTS))
        if refused:
            waiting += requeue(change)
        known = _known_fingerprint(store) if rows else _keep_fingerprint(fingerprint, change)
        seen = make_seen(duplicate_filter, max(rows, CAPACITY), store.path.parent)
        found = Recovered(known, seen, lost_commits=store.lost_commits)
        _take_figures(store, found)
        found.ended_at_unknown = not has_rows(store, store.marker.rows)
        found.struck_out, found.suspects = strike(store, change)
        reader = _Reader(found, traps, keep=waiting <= window)
        has_keys = store.keys.covers(store.commits, rows - away) and rows >= many
        if has_keys:
            _read_quickly(store, reader, keep=waiting <= window)
        else:
            _read_all(store, reader)
        for number, outcome in reader.repairs:
            repair(change, number, outcome)
        with store.meanwhile(*([_NO_INDEX, INDEX] if waiting > window else [_NO_INDEX])):
            for keys in store.keys.chunks() if has_keys else ():
                reader.see(keys)
        if waiting > window:
            found.by_host.update(dict(store.rows(_BY_HOST)))
    # Not before the strikes are committed: they would be lost with the transaction.
    store.marker.clear_all()
    ids_above(last or 0)
    found.counts = found.ledger.counts()
    return found


def _known_fingerprint(store: Store) -> Fingerprint:
    fact = store.fact("fingerprint")
    if fact is None:
        raise damaged(store.path, "the key of its fingerprints is missing")
    return Fingerprint.from_dict(fact)


def _keep_fingerprint(fingerprint: Fingerprint, change: Any) -> Fingerprint:
    fact = sealed("fingerprint", json.dumps(fingerprint.to_dict()))
    change("INSERT OR REPLACE INTO facts VALUES (?, ?, ?)", *fact)
    return fingerprint


def _take_figures(store: Store, found: Recovered) -> None:
    found.figures = store.fact("frontier") or {}
    found.ledger.found_nearer = found.figures.get("found_nearer", 0)
    away = found.figures.get("turned_away", {})
    found.ledger.turned_away.update({r: n for r, n in away.items() if r not in CUT_OFF})


def _read_all(store: Store, reader: _Reader) -> None:
    """Read every row, and write their keys to the log anew."""
    store.keys.clear()
    reader.log = store.keys
    for some in _chunks(store, f"{_ROWS} WHERE id > ? ORDER BY id"):
        reader.read(some)


def _read_quickly(store: Store, reader: _Reader, *, keep: bool) -> None:
    """Read whole rows only if they are not plain, or are kept; their keys are in the log."""
    plain = _PLAIN_DONE if keep else _PLAIN
    for some in _chunks(store, f"{_ROWS} WHERE NOT {plain} AND id > ? ORDER BY id"):
        reader.read(some)
    reader.count_plain(plain_rows(store, plain))


def _chunks(store: Store, query: str) -> Iterator[list[Values]]:
    """Yield what *query* finds; from the first damaged text on, text is read with its faults."""
    last = _BEFORE_ALL
    try:
        for some in store.chunks(query, last):
            last = some[-1][0]
            yield some
    except JobError:
        store.read_any_text()
        yield from store.chunks(query, last)


class _Reader:
    """Takes in the rows; most wait or are done, and cost little."""

    def __init__(self, found: Recovered, traps: TrapGuard, *, keep: bool) -> None:
        #: Rows that get another outcome, or None: they wait again.
        self.repairs: list[tuple[int, Outcome | None]] = []
        self._found = found
        self._traps = traps
        self._keep = keep
        #: Where the keys of the rows are written; None if they are there, and seen, already.
        self.log: KeyLog | None = None
        #: The keys of rows that are not plain, and that are not written yet.
        self._other_keys: list[bytes] = []

    def see(self, keys: list[bytes]) -> None:
        self._found.seen.update(keys)

    def count_plain(self, groups: Iterable[PlainRows]) -> None:
        """Count rows of which some columns are enough: they are plain, and not kept in memory."""
        self._traps.count_all(self._counted(groups))

    def _counted(self, groups: Iterable[PlainRows]) -> Iterator[UrlGroup]:
        for group in groups:
            self._count(group.rows, group.done)
            yield group.urls

    def read(self, rows: list[Values]) -> None:
        hashed, count_trap = mmh3.hash, self._traps.count
        keys: list[bytes] = []
        done = 0
        for values in rows:
            number, key, url, _, depth, _, found_on = values[:7]
            its_seal, progress, status, reason, end_seal, to, is_strange = values[8:]
            is_whole = its_seal == hashed(repr(values[:8])) and not is_strange
            is_plain = is_whole and not (progress or to)
            if is_plain and status is None:
                if self._keep:
                    self._found.waiting.append(Row(*values[:10]))
            elif is_plain and status == "done" and end_seal == seal(number, status, reason, to):
                done += 1
            else:
                self._read_one(Row(*values[:10]), *values[10:14], is_whole=is_whole)
                continue
            keys.append(key)
            count_trap(url, depth, found_on)
        if self.log is not None:
            self.see(keys)
            self.log.append(_EARLIER, keys + self._other_keys)
            self._other_keys.clear()
        self._count(len(keys), done)

    def _read_one(
        self, row: Row, status: Any, reason: Any, end_seal: Any, to: Any, *, is_whole: bool
    ) -> None:
        if is_whole and status == TURNED_AWAY:
            self._found.turned_away.add(turned_away_key(row.key, reason))
            self._found.ledger.sample(str(reason), row.url)
            return
        has_ended = status is not None and end_seal == seal(row.id, status, reason, to)
        outcome = Outcome(status, reason) if has_ended else None
        hops: list[str] = []
        if not is_whole:
            outcome = self._set_aside(row, outcome)
        elif status is not None and outcome is None:
            row = self._reopened(row)
        else:
            row, hops = self._followed(row, to)
        self._see(row, hops, is_whole=is_whole)
        self._found.ledger.admit()
        if outcome is not None:
            self._found.ledger.settle(outcome, str(row.url))
        elif self._keep:
            self._found.waiting.append(row)

    def _set_aside(self, row: Row, outcome: Outcome | None) -> Outcome:
        """Return the outcome of a damaged row: one that had not ended has failed."""
        if outcome is None:
            outcome = failed("damaged")
            self.repairs.append((row.id, outcome))
        elif outcome == failed("damaged"):  # by an earlier process
            return outcome
        self._found.damaged += 1
        return outcome

    def _reopened(self, row: Row) -> Row:
        """Let a row begin anew whose progress or end is damaged."""
        self._found.damaged += 1
        self.repairs.append((row.id, None))
        return row._replace(progress=None)

    def _followed(self, row: Row, redirects: str | None) -> tuple[Row, list[str]]:
        """Return *row* and its redirects; a row whose redirects are damaged begins anew."""
        try:
            return row, hops_of(row.id, row.progress, redirects)
        except (ValueError, TypeError):
            return self._reopened(row), []

    def _see(self, row: Row, hops: list[str], *, is_whole: bool) -> None:
        if self.log is not None and isinstance(row.key, bytes) and len(row.key) == SIZE:
            self._found.seen.add(row.key)
            self._other_keys.append(row.key)
        for url in hops:
            self._found.seen.add(self._found.fingerprint.of(urls.canonicalize(url)))
        if is_whole:
            self._traps.count(row.url, row.depth, row.found_on)

    def _count(self, admitted: int, done: int) -> None:
        ledger = self._found.ledger
        ledger.admitted += admitted
        ledger.pending += admitted - done
        ledger.done += done


def facts_of_hosts(store: Store, now: float) -> list[HostFacts]:
    """Return what is known of hosts and origins; a damaged row is left out, and learned anew."""
    return [
        HostFacts(name, failures, rests_until - now, why)
        for name, failures, rests_until, why in _whole(store, "hosts")
    ]


def facts_of_robots(store: Store, now: float) -> list[RobotsFacts]:
    return [
        RobotsFacts(origin, expires - now, body)
        for origin, expires, body in _whole(store, "robots")
    ]


def _whole(store: Store, table: str) -> Iterator[list[Any]]:
    for *values, its_seal in store.rows(f"SELECT * FROM {table}"):  # noqa: S608 - our own names
        if its_seal == seal(*values):
            yield values
