"""ClusterJobs: the jobs of a cluster at one Redis, as a portal sees and steers them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from time import time
from typing import Any, TypeVar

from gevent.lock import Semaphore

from ...cluster.job_record import control_job
from ...cluster.redis import connect, errors_of
from ...cluster.server_check import Finding, findings, server_facts
from ...cluster.status import job_names, job_status
from ...credentials import hide_passwords
from ...errors import ClusterError, RedisAway, StateError
from ...frontier import UrlCounts
from ..figures import RunFigures
from ..store.database import Database

Answer = TypeVar("Answer")

#: Seconds for which an answer of Redis is good enough.
_FRESH = 0.9


@dataclass(frozen=True)
class ClusterJob:
    """A job as Redis has shown it at the time *at*; *away* says why that is old, or is empty."""

    status: Mapping[str, Any]
    at: float
    away: str = ""

    @property
    def figures(self) -> RunFigures:
        urls = UrlCounts(**self.status["urls"])
        return RunFigures(self.status["job"], self.status["status"], "", urls, {})

    @property
    def confirmed(self) -> tuple[int, int]:
        """How many schedulers have done what they were asked last, and how many were asked."""
        of = (self.status["asked"] or {"of": {}})["of"]
        return sum(state == "done" for state in of.values()), len(of)

    def to_dict(self) -> dict[str, Any]:
        queue = self.figures.queue.to_dict()
        return {**self.status, "queue": queue, "at": self.at, "away": self.away}


class ClusterJobs:
    """
    The jobs at the Redis of *url*, which may have a password: only *place* is for readers.

    Redis is asked at most once a second for each job, and while it is away once a second in all:
    its last answer stands.
    """

    def __init__(self, url: str, database: Database, clock: Callable[[], float] = time) -> None:
        self.place = hide_passwords(url)
        self._url = url
        self._database = database
        self._clock = clock
        self._seen: dict[str, ClusterJob] = {}
        self._turn = Semaphore()
        #: When Redis has not answered last, and its words.
        self._away = (-math.inf, "")
        #: Whether Redis has answered when it was asked last.
        self.is_up = False

    def all(self) -> list[ClusterJob]:
        """Return all jobs; raise RedisAway if Redis does not answer and never has."""
        try:
            names = self._ask(job_names)
        except RedisAway:
            if not self._seen:
                raise
            names = sorted(self._seen)
        return [self.find(name) for name in names]

    def find(self, name: str) -> ClusterJob:
        """Return a job; raise LookupError if there is none, RedisAway if nothing is known of it."""
        seen = self._seen.get(name)
        if seen is not None and self._clock() - seen.at < _FRESH:
            return seen
        try:
            found = ClusterJob(self._ask(job_status, name), self._clock())
        except RedisAway as error:
            if seen is None:
                raise
            found = replace(seen, away=str(error))
        except (ClusterError, ValueError) as error:
            self._seen.pop(name, None)
            raise LookupError(str(error)) from error
        self._seen[name] = found
        return found

    def command(self, command: str, name: str, who: str) -> None:
        """Send a command of COMMANDS; raise StateError if the job cannot obey it."""
        status = self.find(name).status
        if command == "restart" and not status["schedulers"]:
            raise StateError("no scheduler works on the job: crawler cluster join starts one")
        self._database.audit(self._clock(), who, f"asked to {command} the cluster job {name}")
        if control_job(self._url, name, command, who) == "finished":
            raise StateError("the job is finished")
        self._seen.pop(name, None)

    def findings(self) -> list[Finding]:
        """Return what a cluster needs to know of the server."""
        return self._ask(_findings)

    def _ask(self, question: Callable[..., Answer], *about: str) -> Answer:
        """Ask Redis; raise RedisAway at once if it was away a moment ago. One asks at a time."""
        with self._turn:
            at, words = self._away
            if self._clock() - at < _FRESH:
                raise RedisAway(words)
            try:
                answer = question(self._url, *about)
            except RedisAway as error:
                self._away, self.is_up = (self._clock(), str(error)), False
                raise
        self.is_up = True
        return answer


def _findings(url: str) -> list[Finding]:
    with closing(connect(url)) as client, errors_of(url):
        return list(findings(server_facts(client)))
