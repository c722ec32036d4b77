"""
What SIGKILL costs: a crawl is killed and continued again and again; no page may be lost.

    crawler bench kill --kills 300

The site has a known set of pages and runs in this process, so that it outlives the kills and counts
repeated requests. Each crawl is a process of its own, in a job directory, with every kind of output.
At its end every feed must have every page once, and the archive every exchange of the job once; a
replay of the archive must give the records of the feeds.
"""

from __future__ import annotations

import random
import tempfile
import time
from itertools import cycle
from pathlib import Path
from typing import Any

from ...feed import parquet_columns as columns
from ...frontier.durable.group_commit import GROUP
from ..measuring.child import BenchError
from ..measuring.report import Report, Samples, Target, table, text
from .killed_crawl import IN_FLIGHT
from .moments import KINDS
from .slow_site import SlowSite
from .trial import Moment, Trial

#: The kinds of the trials of one round.
_ROUND = ("anywhere", *KINDS, "anywhere", "anywhere")
#: By measure, what is counted of the outputs of a trial; none is right.
_FAULTS = {
    "lost": "pages lost",
    "doubled": "records written twice",
    "exchanges_lost": "exchanges lost",
    "exchanges_doubled": "exchanges archived twice",
}


def run(
    kills: int, *, site: SlowSite | None = None, seed: int = 0, show_progress: Any = bool
) -> Report:
    """Kill so many crawls, continue each to its end, and count what is lost or doubled."""
    columns.parquet()  # raise the error that names the extra here, not in each crawl
    site = site or SlowSite()
    rows: dict[str, Samples] = {kind: {} for kind in KINDS}
    notes: list[str] = []
    with tempfile.TemporaryDirectory(prefix="killed-") as folder:
        spans = undisturbed(Path(folder) / "first", site)
        for number, kind in enumerate(cycle(_ROUND)):
            done = int(sum(sum(samples.get("kills", ())) for samples in rows.values()))
            show_progress(f"{done}/{kills} kills")
            if done >= kills:
                break
            rng = random.Random(f"{seed} {number}")
            place = Path(folder) / str(number)
            notes += _sample(rows[kind], KINDS[kind], Trial(place, site.served(), rng, spans))
    setting = {"kills": kills, "pages": site.pages, "delay": site.delay, "seed": seed}
    rows = {kind: samples for kind, samples in rows.items() if samples}
    return Report("kill", setting, rows, _targets(rows, len(notes)), notes)


def undisturbed(folder: Path, site: SlowSite) -> tuple[float, float]:
    """Crawl once without a kill; return the seconds to the first request and to the end."""
    trial = Trial(folder, site.served(), random.Random(0))
    began = time.monotonic()
    with trial.site:
        trial.finish(trial.start())
    ended = time.monotonic()
    found = trial.check()
    if trial.problems or trial.refetched or any(getattr(found, name) for name in _FAULTS):
        raise BenchError(f"the crawl fails even without a kill: {found}, {trial.problems}")
    return trial.site.requests[0].at - began, ended - began


def _sample(samples: Samples, moments: tuple[Moment, ...], trial: Trial) -> list[str]:
    """Run one trial, add its numbers to *samples*, and return its problems."""
    with trial.site:
        for moment in moments:
            trial.kill(moment)
        trial.finish(trial.start())
    found = dict.fromkeys(_FAULTS, 0) | {"lost": len(trial.site.pages)}
    if not trial.problems:
        found = vars(trial.check())
    numbers = {"kills": trial.kills, "trials": 1} | {name: found[name] for name in _FAULTS}
    for name, number in numbers.items():
        samples.setdefault(name, []).append(number)
    samples.setdefault("refetched", []).extend(trial.refetched_for())
    return trial.problems


def _targets(rows: dict[str, Samples], problems: int) -> list[Target]:
    most = max((max(samples["refetched"]) for samples in rows.values()), default=0.0)
    return [
        *(Target(text, _sum(rows, name), 0) for name, text in _FAULTS.items()),
        Target("requests repeated per kill, at most", most, IN_FLIGHT + GROUP),
        Target("crawls that failed", problems, 0),
    ]


def _sum(rows: dict[str, Samples], name: str) -> float:
    return sum(sum(samples[name]) for samples in rows.values())


def _refetched(samples: Samples) -> str:
    mean = sum(samples["refetched"]) / max(1, sum(samples["kills"]))
    return f"{mean:.1f}, at most {max(samples['refetched']):.0f}"


def show(report: Report) -> str:
    head = ("killed", "crawls", "kills", *_FAULTS.values(), "requests repeated per kill")
    rows = [
        (
            kind,
            f"{sum(samples['trials']):.0f}",
            f"{sum(samples['kills']):.0f}",
            *(f"{sum(samples[name]):.0f}" for name in _FAULTS),
            _refetched(samples),
        )
        for kind, samples in report.rows.items()
    ]
    return text(report, f"{report.setting['pages']} pages\n{table(head, rows)}")
