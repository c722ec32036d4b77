"""
What faults cost a cluster: schedulers, collector and server are killed, stopped and cut; nothing may be lost.

    crawler bench kill --cluster --kills 300

The site runs in this process and knows its pages, so that the outputs are checked against it alone.
"""

from __future__ import annotations

import random
import tempfile
from pathlib import Path
from typing import Any

from ..measuring.report import Report, Samples, Target, table, text
from .cluster_trial import ClusterTrial
from .faults import FAULTS
from .tree_site import TreeSite

#: Faults of one trial, and the pages and the seconds of a page of its site.
PER_TRIAL = 15
_PAGES = 1500
_DELAY = 0.05


def run(
    faults: int,
    *,
    seed: int = 0,
    pages: int = _PAGES,
    delay: float = _DELAY,
    show_progress: Any = bool,
) -> Report:
    """Crawl a site again and again until that many faults were made; count what is lost or doubled."""
    rows: dict[str, Samples] = {}
    notes: list[str] = []
    done = number = 0
    while done < faults:
        show_progress(f"{done}/{faults} faults")
        number += 1
        site = TreeSite(pages, delay)
        with tempfile.TemporaryDirectory(prefix="cluster-") as folder, site.served():
            rng = random.Random(f"{seed} {number}")
            trial = ClusterTrial(Path(folder) / "t", site, rng)
            trial.run(rng.choices(FAULTS, k=min(PER_TRIAL, faults - done)))
        made = sum(trial.faults.values())
        if not made:
            notes.append("a crawl ended before the first fault")
            break
        done += made
        notes += trial.problems
        rows[f"crawl {number}"] = {
            "faults": [made],
            "lost": [trial.lost],
            "doubled": [trial.doubled],
            "overlaps": [len(site.overlaps) - trial.excepted],
            "excepted": [trial.excepted],
            **{name: [count] for name, count in trial.faults.items()},
        }
    setting = {"faults": faults, "pages": pages, "delay": delay, "seed": seed}
    return Report("cluster-faults", setting, rows, _targets(rows, len(notes)), notes)


def _targets(rows: dict[str, Samples], problems: int) -> list[Target]:
    def total(name: str) -> float:
        return sum(sum(samples.get(name, ())) for samples in rows.values())

    return [
        Target("pages lost", total("lost"), 0),
        Target("records written twice", total("doubled"), 0),
        Target("requests beside another of their host", total("overlaps"), 0),
        Target("processes that failed", problems, 0),
    ]


def show(report: Report) -> str:
    head = ("", "faults", "pages lost", "records twice", "overlaps", "of stopped or cut off")
    keys = ("faults", "lost", "doubled", "overlaps", "excepted")
    rows = [
        (name, *(f"{sum(samples[key]):.0f}" for key in keys))
        for name, samples in report.rows.items()
    ]
    return text(report, f"{report.setting['pages']} pages\n{table(head, rows)}")
