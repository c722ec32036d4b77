"""Collector: the ends and records of all shards, into one job directory and its outputs."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

import gevent

from .. import url as urls
from ..credentials import hide_passwords
from ..data import Request, ids_above, new_id
from ..errors import ClusterError, InvalidURL, RedisAway
from ..frontier import Outcome, UrlCounts
from ..frontier.durable import rows
from ..frontier.durable.batch import Step
from ..job.directory import Job
from ..job.outputs import Product
from ..serialization import request_from_dict
from .blob import unpack
from .collected import Position, go_back, last_position, positions, sync
from .job_record import JobRecord
from .leases import LeaseTable
from .renewals import boot_time
from .server import Server
from .status import counts_of

log = logging.getLogger(__name__)

#: How many entries of the log are written in one commit.
_COUNT = 100
#: Milliseconds that one read waits for entries.
_BLOCK = 500
#: Seconds that entries are gathered before they are written.
_GATHER = 0.1
#: Seconds between two looks at the lease of another collector.
_LOOK = 0.1


class Collector:
    """
    Reads the log of a job and writes it to *folder* and to the feeds that *open_feeds* opens.

    Each commit has the entry that it ends with and the places where the outputs end, on the disk.
    Only then the log is trimmed; its last entry stays. Restarted, the collector cuts its outputs
    back to the last commit and reads on: every record is there once. If Redis is back with
    less than was collected, it goes back to the newest commit that Redis still knows.
    """

    def __init__(
        self,
        url: str,
        record: JobRecord,
        folder: Path,
        open_feeds: Callable[[Job], object],
    ) -> None:
        self.folder = folder
        self.counts = UrlCounts()
        self.status = "running"
        self._record = record
        self._keys = record.keys
        self._open_feeds = open_feeds
        self._is_ended = False
        self._server = Server(url, record.keys, lambda: self._is_ended)
        self._token = ""
        self._keep_from = ""
        self._trimmed_bytes = 0
        self._held_bytes = 0
        self._at: Position
        self._job: Job

    def run(self) -> None:
        """Collect until the job is over, or stop() is called."""
        try:
            self._server.life = self._server.begin_life()
            self._token = self._claim()
            self._open()
            with closing(self):
                self._go_back_if_lost()
                while not self._is_ended and not self._collect():
                    self._wait()
                self._collect()
        finally:
            self._release()
            self._server.close()

    def close(self) -> None:
        """Close the directory, with the last counts."""
        self._job.close()

    def stop(self) -> None:
        """Let run() return when what was read is written."""
        self._is_ended = True

    # -- the lease ----------------------------------------------------------------------------

    def _claim(self) -> str:
        """Return the token of the lease, which keeps a second collector out."""
        table, key = LeaseTable(1, self._record.ttl), self._keys.collector
        token, first = table.new_token(), self._lease()
        until = boot_time() + self._record.ttl
        while True:
            held = self._lease()
            if held != first:
                raise ClusterError(
                    f"another collector works on the job {self._keys.name!r}: end it first, or "
                    "leave it where it is"
                )
            if not held[0] or boot_time() >= until:
                names = [self._keys.job, key]
                answer = self._server.call("claim", names, token, *held)
                if answer[0] == b"OK":
                    return token
                if boot_time() >= until:
                    self._server.call("mark", [self._keys.job], "calm", self._server.life)
            gevent.sleep(_LOOK)

    def _lease(self) -> tuple[str, str]:
        token, beat = self._server.ask(lambda c: c.hmget(self._keys.collector, "token", "beat"))
        return (token or b"").decode(), (beat or b"0").decode()

    def _release(self) -> None:
        try:
            self._server.call("release", [self._keys.collector], self._token, 0)
        except RedisAway as error:
            log.debug("the collector's lease is not given back: %s", error)

    # -- the directory ------------------------------------------------------------------------

    def _open(self) -> None:
        self._job = job = Job(self.folder)
        before = job.journal.fact("cluster")
        if job.has_begun and before != self._name:
            job.close()
            raise ClusterError(
                f"{self.folder} has the output of {before or 'another crawl'}, not of "
                f"{self._name}: name another directory"
            )
        next(job.journal.store.rows("PRAGMA synchronous = FULL"), None)
        self._open_feeds(job)
        self._at = last_position(job.journal.fact)
        self._last_row = self._at.last_row
        ids_above(self._at.last_row)
        job.journal.include("cluster", lambda: self._name)
        job.journal.include("fingerprint", self._record.fingerprint.to_dict)
        job.journal.include("counts", lambda: asdict(self.counts))
        job.journal.include("summary", self._summary)

    @property
    def _name(self) -> str:
        return f"the job {self._keys.name!r} that was started at {self._record.created}"

    def _summary(self) -> dict[str, str]:
        is_over = self.status == "finished"
        return {"status": "stopped" if is_over else "started", "reason": self.status}

    def _go_back_if_lost(self) -> None:
        """Cut the outputs back to the newest commit whose entry Redis has."""
        if self._is_known(self._at) or not self._at.number:
            return
        known = next((one for one in positions(self.folder) if self._is_known(one)), None)
        if known is None:
            raise ClusterError(
                f"{hide_passwords(self._server.url)} and {self.folder} have nothing in common any "
                f"more: the records up to entry {self._at.entry} of the job are in question; keep "
                "the directory, and start the job again with another one"
            )
        log.warning("Redis is back with less: %s is cut back to it", self.folder)
        self._job.close()
        go_back(self.folder, known)
        self._open()

    def _is_known(self, position: Position) -> bool:
        found = self._server.ask(lambda c: c.xrange(self._keys.log, position.entry, position.entry))
        return bool(found) and found[0][1][b"call"].decode() == position.call

    # -- collecting -----------------------------------------------------------------------------

    def _wait(self) -> None:
        """Wait until the log has more, for a while."""
        try:
            after = {self._keys.log: self._at.entry}
            if self._server.ask(lambda c: c.xread(after, count=1, block=_BLOCK)):
                gevent.sleep(_GATHER)
        except RedisAway:
            log.debug("Redis went away while the collector waited")

    def _collect(self) -> bool:
        """Write what the log has; return whether the job is over and all is written."""
        while True:
            state, *rest = self._server.patiently(self._read)
            if state == b"LIFE":
                self._begin_life()
                continue
            if state == b"GONE":
                raise ClusterError(f"another collector works on the job {self._keys.name!r} now")
            self._keep_from = ""
            status, entries = rest
            self.status = status.decode()
            if not entries:
                return self.status in {"finished", "stopped"}
            self._write(entries)

    def _begin_life(self) -> None:
        """Continue with a server that was restarted, and may have lost our claim and more."""
        self._server.life = self._server.begin_life()
        if self._lease()[0] != self._token:
            self._token = self._claim()
        self._keep_from = ""
        self._go_back_if_lost()

    def _read(self) -> Any:
        names = [self._keys.job, self._keys.log, self._keys.collector]
        trim = [self._keep_from, self._trimmed_bytes]
        args = [self._server.life, self._token, *trim, self._at.entry, _COUNT]
        return self._server.call("collect", names, *args)

    def _write(self, entries: Sequence[Any]) -> None:
        """Write *entries* in one commit, which is on the disk when this returns."""
        commits = self._job.journal.commits
        sizes = [self._add(dict(zip(f[::2], f[1::2], strict=True))) for _, f in entries]
        entry, fields = entries[-1]
        call = dict(zip(fields[::2], fields[1::2], strict=True))[b"call"]
        products, commits.batch.outputs = commits.batch.outputs, []
        ends = self._job.outputs.write(products)
        for feed in self._job.outputs.feeds:
            feed.flush()
            sync(feed.path)
        last = self._last_row
        self._at = Position(
            self._at.number + 1,
            entry.decode(),
            call.decode(),
            last,
            ends["outputs"],
            ends["written"],
        )
        self._note_counts()
        name, value = self._at.fact
        commits.figures |= {name: lambda: value, "collected": lambda: value}
        try:
            commits.flush(anyway=True)
        finally:
            del commits.figures[name]
        self._keep_from = self._at.entry
        self._trimmed_bytes = self._held_bytes + sum(sizes[:-1])
        self._held_bytes = sizes[-1]

    def _add(self, fields: dict[bytes, bytes]) -> int:
        """Add the ends and records of one call; return its size in the log."""
        blob = fields[b"ends"]
        for request, outcome, answer, records in unpack(blob):
            self._job.journal.commits.batch.add(self._step(request, outcome, answer, records))
        return len(blob)

    def _step(self, data: Any, outcome: Any, answer: Any, records: Any) -> Step:
        request = request_from_dict(data).replace(id=new_id())
        self._last_row = number = rows.number_of(request)
        key = rows.key_of(request, self._record.fingerprint)
        return Step(
            insert=rows.inserted(request, _host(request), key),
            end=rows.ended(number, Outcome(*outcome), request, answer),
            output=Product(records, []) if records else None,
        )

    def _note_counts(self) -> None:
        self.counts = counts_of(self._server.ask, self._keys)


def _host(request: Request) -> str:
    try:
        return urls.host(request.redirects[0] if request.redirects else request.url)
    except InvalidURL:
        return ""
