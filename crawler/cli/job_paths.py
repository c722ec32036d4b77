"""Where the job directories of commands are."""

from __future__ import annotations

from pathlib import Path

import click

from .options import JOBS


def job_at(place: str) -> Path:
    """Return the job directory that *place* names: a path, or else a name below ./crawls."""
    from ..job.directory import STATE

    here, below = Path(place), Path(JOBS) / place
    return below if (below / STATE).is_file() and not (here / STATE).is_file() else here


def last_job(root: str) -> Path:
    from ..job.directory import STATE
    from ..job.view import find_jobs

    found = find_jobs(root)
    if not found:
        raise click.UsageError(f"no jobs below {root!r}: name a job directory")
    return max(found, key=lambda path: (path / STATE).stat().st_mtime)
