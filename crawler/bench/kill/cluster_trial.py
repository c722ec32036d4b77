"""ClusterTrial: a job of several schedulers, with faults while it runs, and a check at its end."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import gevent
from gevent import subprocess

from ...cluster.embedded_server import EmbeddedServer
from ...cluster.redis import VARIABLE, connect
from .proxy import Proxy
from .tree_site import HOSTS, TreeSite

#: Seconds that a lease lasts, so that faults are over soon; and the number of shards.
TTL = 1.5
_SHARDS = 8
#: Seconds between two faults: at least, and at most.
_BETWEEN = (0.3, 1.5)
#: The most seconds of one trial after its last fault.
_LONGEST = 180.0
#: Bytes that a server loses at most when the end of its append-only file is cut off.
_MOST_CUT = 20_000
#: Pages that are fetched before the first fault.
_FIRST_PAGES = 20
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
    faults: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    #: The faults to make, in this order and again; None is any of them.
    kinds: Sequence[Callable[[ClusterTrial], None]] | None = None

    def run(self, number: int) -> None:
        """Crawl the site with that many faults, and check what was collected."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._server = EmbeddedServer(self.folder / "redis").start()
        self._running: list[subprocess.Popen[bytes]] = []
        self._proxies: list[Proxy] = []
        self._removed: set[int] = set()
        self._collector: subprocess.Popen[bytes] | None = None
        try:
            self._begin()
            self._wait_for_pages()
            for turn in range(number):
                self._wait(self.rng.uniform(*_BETWEEN))
                if self.problems or self._collector is None or self._collector.poll() == 0:
                    break
                kinds = self.kinds
                fault = kinds[turn % len(kinds)] if kinds else self.rng.choice(_FAULTS)
                fault(self)
            self._finish()
        finally:
            self._end()
        self._check()

    # -- faults -------------------------------------------------------------------------------

    def kill_scheduler(self) -> None:
        self.faults["scheduler killed"] += 1
        self._kill(self._running[self._one_of_them()])

    def remove_scheduler(self) -> None:
        """Kill a scheduler for good; the others must do its work."""
        self.faults["scheduler removed"] += 1
        place = self._one_of_them()
        self._removed.add(place)
        self._kill(self._running[place])

    def stop_scheduler(self) -> None:
        """Freeze a scheduler until others have its shards."""
        self.faults["scheduler stopped"] += 1
        process = self._running[self._one_of_them()]
        process.send_signal(signal.SIGSTOP)
        gevent.spawn_later(2 * TTL, self._continue, process)

    def lose_machine(self) -> None:
        """Kill a scheduler with all that it has on its disk; another one comes in its place."""
        self.faults["machine lost"] += 1
        place = self._one_of_them()
        self._kill(self._running[place])
        shutil.rmtree(self._folder_of(place), ignore_errors=True)

    def cut_network(self) -> None:
        """Close the connections of a scheduler, and let it have none for a while."""
        self.faults["network cut"] += 1
        self._disturb(Proxy.cut)

    def hold_commands(self) -> None:
        """Let nothing that a scheduler sends arrive for a while."""
        self.faults["commands held"] += 1
        self._disturb(lambda proxy: proxy.hold("commands"))

    def hold_replies(self) -> None:
        """Let a scheduler get no answer for a while: it does not know what was done."""
        self.faults["replies held"] += 1
        self._disturb(lambda proxy: proxy.hold("replies"))

    def _disturb(self, how: Callable[[Proxy], None]) -> None:
        proxy = self._proxies[self._one_of_them()]
        how(proxy)
        gevent.spawn_later(self.rng.uniform(0.2, 2) * TTL, proxy.restore)

    def _one_of_them(self) -> int:
        """Return the place of a scheduler that was not removed."""
        places: list[int] = sorted({*range(self.schedulers)} - self._removed)
        return self.rng.choice(places)

    def stop_collector(self) -> None:
        """Freeze the collector until its lease has run out."""
        self.faults["collector stopped"] += 1
        if self._collector is not None:
            self._collector.send_signal(signal.SIGSTOP)
            gevent.spawn_later(2 * TTL, self._continue, self._collector)

    def kill_collector(self) -> None:
        self.faults["collector killed"] += 1
        if self._collector is not None:
            self._kill(self._collector)

    def kill_server(self) -> None:
        self.faults["server killed"] += 1
        self._server.kill()
        gevent.sleep(self.rng.uniform(0, TTL))
        self._server.start()

    def cut_server(self) -> None:
        """Let the server lose the end of its history, and restart it twice more."""
        self.faults["server cut"] += 1
        self._server.kill()
        files = sorted((self.folder / "redis" / "appendonlydir").glob("*.incr.aof"))
        size = files[-1].stat().st_size
        os.truncate(files[-1], size - self.rng.randint(0, min(size // 2, _MOST_CUT)))
        for _ in range(2):
            self._server.start()
            gevent.sleep(self.rng.uniform(0, TTL))
            self._server.kill()
        self._server.start()

    # -- the processes --------------------------------------------------------------------------

    def _begin(self) -> None:
        words = [word for pair in _SETTINGS.items() for word in ("-s", "=".join(pair))]
        shape = ["--job", _JOB, "--ttl", str(TTL), "--shards", str(_SHARDS)]
        created = self._start("start", self.site.first, *shape, *words, "-s", "allow_private=true")
        if created.wait(60):
            raise RuntimeError("the job cannot be created")
        self._proxies = [Proxy(str(self._server.socket)) for _ in range(self.schedulers)]
        self._urls = [proxy.start() for proxy in self._proxies]
        self._running = [self._join(place) for place in range(self.schedulers)]
        self._collector = self._collect()

    def _wait_for_pages(self) -> None:
        """Wait until the crawl is under way; the job itself is beyond what a cut can lose then."""
        with closing(connect(self._server.url)) as client:
            client.bgrewriteaof()
        end = time.monotonic() + _LONGEST
        while len(self.site.requests) < _FIRST_PAGES and time.monotonic() < end:
            self._wait(0.1)

    def _join(self, place: int) -> subprocess.Popen[bytes]:
        words = ["join", _JOB, "-s", "allow_private=true", "--dir", self._folder_of(place)]
        return self._start(*words, url=self._urls[place])

    def _folder_of(self, place: int) -> str:
        return str(self.folder / f"scheduler{place}")

    def _collect(self) -> subprocess.Popen[bytes]:
        return self._start("collect", _JOB, "-O", "out.jsonl", "--dir", "collected")

    def _start(self, *words: str, url: str = "") -> subprocess.Popen[bytes]:
        with (self.folder / "processes.log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "crawler", "cluster", *words],
                stdout=log,
                stderr=log,
                cwd=self.folder,
                env={**os.environ, VARIABLE: url or self._server.url},
                start_new_session=True,  # Ctrl-C goes to the parent only
            )

    def _wait(self, seconds: float) -> None:
        """Wait, and start again what was killed."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self._start_again()
            gevent.sleep(0.05)

    def _start_again(self) -> None:
        for place, process in enumerate(self._running):
            code = process.poll()
            if code is not None and place not in self._removed:
                self._note_end("scheduler", code)
                self._running[place] = self._join(place)
        collector = self._collector
        if collector is not None and collector.poll() not in (None, 0):
            self._note_end("collector", collector.returncode)
            self._collector = self._collect()

    def _note_end(self, what: str, code: int) -> None:
        """Note a process that has ended by itself; 0 is the end of the job."""
        lines = self._last_lines(2000)
        # One that is started while the server is away says so, and ends.
        if code not in (0, -signal.SIGKILL) and not (code == 6 and "no answer from" in lines):
            self.problems.append(f"a {what} has ended with {code}: {lines[-300:]}")

    def _finish(self) -> None:
        end = time.monotonic() + _LONGEST
        while self._collector is None or self._collector.poll() != 0:
            if self.problems:
                return
            if time.monotonic() > end:
                self.problems.append(f"the job never ended: {self._last_lines()}")
                return
            self._wait(0.2)

    def _kill(self, process: subprocess.Popen[bytes]) -> None:
        process.kill()
        process.wait()

    def _continue(self, process: subprocess.Popen[bytes]) -> None:
        if process.poll() is None:
            process.send_signal(signal.SIGCONT)

    def _end(self) -> None:
        for process in [*self._running, *([self._collector] if self._collector else [])]:
            self._kill(process)
        for proxy in self._proxies:
            proxy.stop()
        self._server.kill()

    def _last_lines(self, most: int = 300) -> str:
        return (self.folder / "processes.log").read_text(errors="replace")[-most:]

    # -- the check ------------------------------------------------------------------------------

    def _check(self) -> None:
        """Compare the records with the pages of the site: each must be there once."""
        text = (self.folder / "out.jsonl").read_text() if not self.problems else ""
        found = Counter(json.loads(line)["url"] for line in text.splitlines())
        self.lost = len(self.site.urls - found.keys())
        self.doubled = sum(number - 1 for number in found.values())
        self.strange = len(found.keys() - self.site.urls)


_FAULTS: tuple[Callable[[ClusterTrial], None], ...] = (
    ClusterTrial.kill_scheduler,
    ClusterTrial.lose_machine,
    ClusterTrial.stop_scheduler,
    ClusterTrial.cut_network,
    ClusterTrial.hold_commands,
    ClusterTrial.hold_replies,
    ClusterTrial.kill_collector,
    ClusterTrial.stop_collector,
    ClusterTrial.kill_server,
    ClusterTrial.cut_server,
)
