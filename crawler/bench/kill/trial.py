"""Trial: a crawl in a job directory that is killed, continued, and checked."""

from __future__ import annotations

import random
import signal
import sys
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import gevent
from gevent import subprocess

from ...testing import LoopbackSite
from .archive_check import replayed
from .killed_crawl import FEEDS
from .output_check import OutputCheck, check_outputs, jsonl_rows, row_of
from .slow_site import planned, recorded

#: The timeout of a crawl in seconds.
_LONGEST = 180.0
#: Seconds between two checks whether the moment of a kill has come.
_POLL = 0.0005
#: Seconds in which requests that were sent before a kill reach the site.
_ARRIVAL = 0.01


@dataclass
class Trial:
    """A job directory, its site, and the processes that work in it one after the other."""

    folder: Path
    site: LoopbackSite
    rng: random.Random
    #: Seconds until the first request and until the end of a crawl that is not killed.
    spans: tuple[float, float] = (0.0, 0.0)
    kills: int = 0
    #: The number of requests to the site after each kill.
    marks: list[int] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            self.command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C goes to the parent only
        )

    @property
    def command(self) -> list[str]:
        return [
            sys.executable,
            "-m",
            "crawler.bench.kill.killed_crawl",
            str(self.folder),
            self.site.url(),
        ]

    def finish(self, child: subprocess.Popen[bytes]) -> None:
        """Let the crawl finish; note a problem if it fails."""
        try:
            _, errors = child.communicate(timeout=_LONGEST)
        except subprocess.TimeoutExpired:
            errors = b"it never ended"
        finally:
            child.kill()
            child.wait()
        if child.returncode or b"Traceback" in errors:
            text = errors.decode(errors="replace")
            self.problems.append(f"{self.folder}: exit code {child.returncode}, {text!r:.500}")

    def kill(self, moment: Moment) -> None:
        """Start the crawl, wait for the *moment*, and kill it."""
        child = self.start()
        try:
            with gevent.Timeout(_LONGEST):
                for _ in moment(self, child):
                    if child.poll() is not None:
                        break
                    gevent.sleep(_POLL)
        except gevent.Timeout:
            self.problems.append(f"{self.folder}: the moment of the kill never came")
        finally:
            child.kill()
            child.communicate()
        self.kills += child.returncode == -signal.SIGKILL
        gevent.sleep(_ARRIVAL)
        self.marks.append(len(self.site.requests))

    @property
    def hits(self) -> Counter[str]:
        """The requests by path, without robots.txt."""
        paths = (hit.path for hit in self.site.requests)
        return Counter(path for path in paths if not path.startswith("/robots"))

    @property
    def refetched(self) -> int:
        return sum(max(0, number - planned(path)) for path, number in self.hits.items())

    def refetched_for(self) -> list[int]:
        """
        Return the number of needless requests per kill; the last number is that of the last process.

        A needless request counts for the process that had made the same one before.
        """
        costs, requested_by = [0] * (len(self.marks) + 1), dict[str, list[int]]()
        for number, hit in enumerate(self.site.requests):
            if hit.path.startswith("/robots"):
                continue
            processes = requested_by.setdefault(hit.path, [])
            if len(processes) >= planned(hit.path):
                costs[processes[-1]] += 1
            processes.append(bisect_right(self.marks, number))
        return costs

    def check(self) -> OutputCheck:
        """Compare the outputs in the directory with the pages of the site, and replay the archive."""
        pages = recorded(self.site.pages)
        found = check_outputs(self.folder, {self.site.url(path) for path in pages})
        problems = [*found.problems, *self._replay_problems()]
        self.problems += [f"{self.folder}: {problem}" for problem in problems]
        return found

    def _replay_problems(self) -> Iterator[str]:
        try:
            records = replayed(self.folder, self.site.url())
        except ValueError as error:
            yield f"the archive cannot be replayed: {error}"
            return
        if sorted(map(row_of, records)) != sorted(jsonl_rows(self.folder / FEEDS[0])):
            yield "the archive, replayed, has other records than the feeds"


#: Waits for the moment to kill the child: a loop that ends when the moment has come.
Moment = Callable[[Trial, "subprocess.Popen[bytes]"], Iterator[None]]
