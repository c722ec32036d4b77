"""
What SIGKILL costs: a crawl is killed again and again, gone on with, and nothing may be missing.

    crawler bench kill --kills 300

The site has a known set of pages and lives here, so that it outlives the kills and counts
who is asked for twice. Each crawl is a process of its own, in a job directory, with all
kinds of output.
"""

from __future__ import annotations

import random
import signal
import sys
import tempfile
import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Any

import gevent
from gevent import subprocess

from ...feed import parquet_columns as columns
from ...frontier.durable.group_commit import GROUP
from ...testing import LoopbackSite, Reply, generated_site
from ..measuring.child import BenchError
from ..measuring.report import Report, Samples, Target, table, text
from .killed_crawl import IN_FLIGHT
from .output_check import Aftermath, look

#: Seconds that a crawl may take.
_LONGEST = 60.0
#: Seconds between two looks at another process.
_LOOK = 0.0005
#: Seconds in which the site hears what was sent to it before a kill.
_ON_ITS_WAY = 0.01


@dataclass(frozen=True)
class Site:
    """So many *pages*, each after *delay* seconds: a crawl that takes long enough to be hit."""

    pages: int = 400
    delay: float = 0.01

    def served(self) -> LoopbackSite:
        pages = generated_site(pages=self.pages, size=1500)
        return LoopbackSite({path: Reply(body=pages[path], delay=self.delay) for path in pages})


@dataclass
class Trial:
    """A job directory, the site it is about, and the processes that work in it one by one."""

    folder: Path
    site: LoopbackSite
    chance: random.Random
    #: Seconds until the first page is asked for, and until the end, when nothing disturbs.
    spans: tuple[float, float] = (0.0, 0.0)
    kills: int = 0
    #: How many requests the site had had after each kill.
    marks: list[int] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            self.command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for the parent
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
        """Let the crawl come to its end."""
        try:
            _, complaints = child.communicate(timeout=_LONGEST)
        except subprocess.TimeoutExpired:
            complaints = b"it never ended"
        finally:
            child.kill()
            child.wait()
        if child.returncode or b"Traceback" in complaints:
            told = complaints.decode(errors="replace")
            self.problems.append(f"{self.folder}: exit code {child.returncode}, {told!r:.500}")

    def kill(self, aim: Aim) -> None:
        """Start the crawl, wait for the moment that *aim* chooses, and kill it."""
        child = self.start()
        try:
            with gevent.Timeout(_LONGEST):
                for _ in aim(self, child):
                    if child.poll() is not None:
                        break
                    gevent.sleep(_LOOK)
        except gevent.Timeout:
            self.problems.append(f"{self.folder}: the moment to kill at never came")
        finally:
            child.kill()
            child.communicate()
        self.kills += child.returncode == -signal.SIGKILL
        gevent.sleep(_ON_ITS_WAY)
        self.marks.append(len(self.site.requests))

    @property
    def hits(self) -> Counter[str]:
        asked = (hit.path for hit in self.site.requests)
        return Counter(path for path in asked if path != "/robots.txt")

    @property
    def refetched(self) -> int:
        return self.hits.total() - len(self.hits)

    def refetched_for(self) -> list[int]:
        """
        Return how many pages had to be fetched again for each kill, and at last for none.

        A page that is asked for again was lost by the process that had asked for it before.
        """
        costs, asked_by = [0] * (len(self.marks) + 1), dict[str, int]()
        for number, hit in enumerate(self.site.requests):
            process = bisect_right(self.marks, number)
            before = asked_by.get(hit.path)
            if before is not None and hit.path != "/robots.txt":
                costs[before] += 1
            asked_by[hit.path] = process
        return costs

    def aftermath(self) -> Aftermath:
        found = look(self.folder, {self.site.url(path) for path in self.site.pages})
        self.problems += [f"{self.folder}: {problem}" for problem in found.problems]
        return found


Aim = Callable[[Trial, "subprocess.Popen[bytes]"], Iterator[None]]


# -- moments: each is a loop that goes on until it has come ------------------------------------


def anywhere(trial: Trial, _: object) -> Iterator[None]:
    return lasting(trial.chance.uniform(0, trial.spans[1]))


def start_up(trial: Trial, _: object) -> Iterator[None]:
    return lasting(trial.chance.uniform(0, trial.spans[0]))


def recovery(trial: Trial, child: subprocess.Popen[bytes]) -> Iterator[None]:
    yield from taken(trial, child)
    yield from lasting(trial.chance.uniform(0, 0.05))


def taken(trial: Trial, child: subprocess.Popen[bytes]) -> Iterator[None]:
    """Be there when the directory has just been taken."""
    holder = f"process {child.pid} "
    while not _text_of(trial.folder / "lock").startswith(holder):
        yield


def checkpoint(trial: Trial, _: object) -> Iterator[None]:
    """Be there when the log is moved into the file, which is not written otherwise."""
    while not trial.hits:
        yield
    for _time in range(trial.chance.randint(1, 4)):
        known = _changed(trial.folder / "state.db")
        while _changed(trial.folder / "state.db") == known:
            yield
    yield from lasting(trial.chance.uniform(0, 0.002))


def shutdown(trial: Trial, _: object) -> Iterator[None]:
    """Be there when the last page has been asked for."""
    while len(trial.hits) < len(trial.site.pages):
        yield
    yield from lasting(trial.chance.uniform(0, 0.2))


def lasting(seconds: float) -> Iterator[None]:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        yield


def _text_of(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def _changed(path: Path) -> int:
    return path.stat().st_mtime_ns if path.exists() else 0


#: How the kills of a trial are aimed, one after the other.
KINDS: dict[str, tuple[Aim, ...]] = {
    "anywhere": (anywhere,),
    "in start-up": (start_up,),
    "in recovery": (anywhere, recovery),
    "in a checkpoint": (checkpoint,),
    "in shutdown": (shutdown,),
    "five in a row": (anywhere,) * 5,
}
#: How often each kind comes in a round.
_ROUND = ("anywhere", *KINDS, "anywhere", "anywhere")


# -- the whole ----------------------------------------------------------------------------------


def run(kills: int, *, site: Site | None = None, seed: int = 0, told: Any = bool) -> Report:
    """Kill so many times, go on to the end after each, or after five, and count."""
    columns.parquet()  # an error that names the extra, rather than one of each crawl
    site = site or Site()
    rows: dict[str, Samples] = {kind: {} for kind in KINDS}
    notes: list[str] = []
    with tempfile.TemporaryDirectory(prefix="killed-") as folder:
        spans = undisturbed(Path(folder) / "first", site)
        for number, kind in enumerate(cycle(_ROUND)):
            done = int(sum(sum(samples.get("kills", ())) for samples in rows.values()))
            told(f"{done}/{kills} kills")
            if done >= kills:
                break
            chance = random.Random(f"{seed} {number}")
            place = Path(folder) / str(number)
            notes += _sample(rows[kind], KINDS[kind], Trial(place, site.served(), chance, spans))
    setting = {"kills": kills, "pages": site.pages, "delay": site.delay, "seed": seed}
    rows = {kind: samples for kind, samples in rows.items() if samples}
    return Report("kill", setting, rows, _targets(rows, len(notes)), notes)


def undisturbed(folder: Path, site: Site) -> tuple[float, float]:
    """Crawl once without a kill; return when the first page was asked for, and when it ended."""
    trial = Trial(folder, site.served(), random.Random(0))
    began = time.monotonic()
    with trial.site:
        trial.finish(trial.start())
    ended = time.monotonic()
    if trial.problems or trial.aftermath().lost or trial.refetched:
        raise BenchError(f"the crawl fails without a kill, too: {trial.problems}")
    return trial.site.requests[0].at - began, ended - began


def _sample(samples: Samples, aims: tuple[Aim, ...], trial: Trial) -> list[str]:
    """Carry out one trial, add its numbers, and return what went wrong."""
    with trial.site:
        for aim in aims:
            trial.kill(aim)
        trial.finish(trial.start())
    found = {"lost": len(trial.site.pages), "doubled": 0}
    if not trial.problems:
        found = vars(trial.aftermath())
    numbers = {"kills": trial.kills, "trials": 1} | {n: found[n] for n in ("lost", "doubled")}
    for name, number in numbers.items():
        samples.setdefault(name, []).append(number)
    samples.setdefault("refetched", []).extend(trial.refetched_for())
    return trial.problems


def _targets(rows: dict[str, Samples], problems: int) -> list[Target]:
    most = max((max(samples["refetched"]) for samples in rows.values()), default=0.0)
    return [
        Target("pages lost", _sum(rows, "lost"), 0),
        Target("records written twice", _sum(rows, "doubled"), 0),
        Target("pages fetched again for a kill, at most", most, IN_FLIGHT + GROUP),
        Target("crawls that ended badly", problems, 0),
    ]


def _sum(rows: dict[str, Samples], name: str) -> float:
    return sum(sum(samples[name]) for samples in rows.values())


def _again(samples: Samples) -> str:
    mean = sum(samples["refetched"]) / max(1, sum(samples["kills"]))
    return f"{mean:.1f}, at most {max(samples['refetched']):.0f}"


def show(report: Report) -> str:
    head = ("killed", "crawls", "kills", "pages lost", "records twice", "fetched again a kill")
    rows = [
        (
            kind,
            f"{sum(samples['trials']):.0f}",
            f"{sum(samples['kills']):.0f}",
            f"{sum(samples['lost']):.0f}",
            f"{sum(samples['doubled']):.0f}",
            _again(samples),
        )
        for kind, samples in report.rows.items()
    ]
    return text(report, f"{report.setting['pages']} pages\n{table(head, rows)}")
