"""ClusterTrial: a job of several schedulers, with faults while it runs, and a check at its end."""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import gevent
from gevent import subprocess

from ...cluster.embedded_server import EmbeddedServer
from ...cluster.redis import VARIABLE, connect
from ...cluster.status import job_status
from .proxy import Proxy
from .tree_site import HOSTS, SENDER, Disturbances, TreeSite

#: Seconds that a lease lasts, so that faults are over soon; and the number of shards.
TTL = 1.5
_SHARDS = 8
#: The most seconds of one trial after its last fault.
_LONGEST = 180.0
#: Pages that are fetched before the first fault.
_FIRST_PAGES = 20
#: Characters of a process that has failed that are reported: the stack of a crash is among them.
_MOST_LINES = 4000
_JOB = "trial"
_SETTINGS = {
    "depth": "none",
    "domains": ",".join(HOSTS),
    "robots": "false",
    "delay": "0",
    "politeness.latency_factor": "0",
    "per_host": "1",
    "politeness.give_up_after": "1000000",
}


@dataclass
class ClusterTrial:
    """
    Schedulers, a collector and a server, each of which may be killed or stopped at any moment.

    What was killed is started again, by the same command. *faults* counts what was done.
    """

    folder: Path
    site: TreeSite
    rng: random.Random
    schedulers: int = 3
    #: Seconds between two faults: at least, and at most.
    between: tuple[float, float] = (0.3, 1.5)
    faults: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)

    def run(self, faults: Iterable[Callable[[ClusterTrial], None]]) -> None:
        """Crawl the site with these *faults*, one after the other, and check what was collected."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.server = EmbeddedServer(self.folder / "redis").start()
        self.running: list[subprocess.Popen[bytes]] = []
        #: What each process has written.
        self._logs: dict[subprocess.Popen[bytes], Path] = {}
        self.proxies: list[Proxy] = []
        self.removed: set[int] = set()
        self.disturbances = Disturbances()
        self.collector: subprocess.Popen[bytes] | None = None
        try:
            self._begin()
            self._wait_for_pages()
            for fault in faults:
                self._wait(self.rng.uniform(*self.between))
                if self.problems or self.collector is None or self.collector.poll() == 0:
                    break
                fault(self)
            self.site.stop_growing()
            self._finish()
        finally:
            self._end()
        self._check()

    def one_of_them(self) -> int:
        """Return the place of a scheduler that was not removed."""
        places: list[int] = sorted({*range(self.schedulers)} - self.removed)
        return self.rng.choice(places)

    # -- the processes --------------------------------------------------------------------------

    def _begin(self) -> None:
        words = [word for pair in _SETTINGS.items() for word in ("-s", "=".join(pair))]
        shape = ["--job", _JOB, "--ttl", str(TTL), "--shards", str(_SHARDS)]
        created = self._start("start", self.site.first, *shape, *words, "-s", "allow_private=true")
        if created.wait(60):
            raise RuntimeError("the job cannot be created")
        self.proxies = [Proxy(str(self.server.socket)) for _ in range(self.schedulers)]
        self._urls = [proxy.start() for proxy in self.proxies]
        self.running = [self._join(place) for place in range(self.schedulers)]
        self.collector = self._collect()

    def _wait_for_pages(self) -> None:
        """Wait until the crawl is under way; the job itself is beyond what a cut can lose then."""
        with closing(connect(self.server.url)) as client:
            client.bgrewriteaof()
        end = time.monotonic() + _LONGEST
        while len(self.site.requests) < _FIRST_PAGES and time.monotonic() < end:
            self._wait(0.1)

    def _join(self, place: int) -> subprocess.Popen[bytes]:
        words = ["join", _JOB, "-s", "allow_private=true", "--dir", self.folder_of(place)]
        words += ["-s", f"headers={SENDER}: {place}"]
        return self._start(*words, url=self._urls[place])

    def folder_of(self, place: int) -> str:
        return str(self.folder / f"scheduler{place}")

    def _collect(self) -> subprocess.Popen[bytes]:
        return self._start("collect", _JOB, "-O", "out.jsonl", "--dir", "collected")

    def _start(self, *words: str, url: str = "") -> subprocess.Popen[bytes]:
        path = self.folder / f"process{len(self._logs)}.log"
        with path.open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-X", "faulthandler", "-m", "crawler", "cluster", *words],
                stdout=log,
                stderr=log,
                cwd=self.folder,
                env={**os.environ, VARIABLE: url or self.server.url},
                start_new_session=True,  # Ctrl-C goes to the parent only
            )
        self._logs[process] = path
        return process

    def _wait(self, seconds: float) -> None:
        """Wait, and start again what was killed."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self._start_again()
            gevent.sleep(0.05)

    def _start_again(self) -> None:
        for place, process in enumerate(self.running):
            code = process.poll()
            if code is not None and place not in self.removed:
                self._note_end("scheduler", process)
                self.running[place] = self._join(place)
        collector = self.collector
        if collector is not None and collector.poll() not in (None, 0):
            self._note_end("collector", collector)
            self.collector = self._collect()

    def _note_end(self, what: str, process: subprocess.Popen[bytes]) -> None:
        """Note a process that has ended by itself; 0 is the end of the job."""
        code, lines = process.returncode, self._last_lines(process)
        # One that is started while the server is away says so, and ends.
        if code not in (0, -signal.SIGKILL) and not (code == 6 and "no answer from" in lines):
            how = signal.Signals(-code).name if code < 0 else code
            self.problems.append(f"a {what} has ended with {how}: {lines}")

    def _finish(self) -> None:
        end = time.monotonic() + _LONGEST
        while self.collector is None or self.collector.poll() != 0:
            if self.problems:
                return
            if time.monotonic() > end:
                lines = "\n".join(map(self._last_lines, self._all_running()))
                self.problems.append(f"the job never ended: {lines}")
                return
            self._wait(0.2)
        self._wait_for_schedulers(end)
        counts = job_status(self.server.url, _JOB)["urls"]
        if (counts["done"], counts["admitted"]) != (self.site.pages, self.site.pages):
            self.problems.append(f"the counts are not those of {self.site.pages} pages: {counts}")

    def _wait_for_schedulers(self, end: float) -> None:
        """Let the schedulers end by themselves, as they must when the job is finished."""
        for place in {*range(self.schedulers)} - self.removed:
            process = self.running[place]
            try:
                process.wait(max(0.0, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                lines = self._last_lines(process)
                self.problems.append(f"a scheduler has not ended with its job: {lines}")
            else:
                self._note_end("scheduler", process)

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        process.kill()
        process.wait()

    def let_continue(self, process: subprocess.Popen[bytes]) -> None:
        if process.poll() is None:
            process.send_signal(signal.SIGCONT)

    def _end(self) -> None:
        for process in self._all_running():
            self.kill(process)
        for proxy in self.proxies:
            proxy.stop()
        self.server.kill()

    def _all_running(self) -> list[subprocess.Popen[bytes]]:
        return [*self.running, *([self.collector] if self.collector else [])]

    def _last_lines(self, process: subprocess.Popen[bytes]) -> str:
        return self._logs[process].read_text(errors="replace")[-_MOST_LINES:]

    # -- the check ------------------------------------------------------------------------------

    def _check(self) -> None:
        """Compare the records with the pages of the site: each must be there once."""
        is_collected = self.collector is not None and self.collector.returncode == 0
        text = (self.folder / "out.jsonl").read_text() if is_collected else ""
        found = Counter(json.loads(line)["url"] for line in text.splitlines())
        self.excepted = self.disturbances.explain(self.site.overlaps)
        self.lost = len(self.site.urls - found.keys())
        self.doubled = sum(number - 1 for number in found.values())
        self.strange = len(found.keys() - self.site.urls)
