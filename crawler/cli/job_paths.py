"""Where the job directories of commands are."""

from __future__ import annotations

from pathlib import Path

import click

from .options import JOBS


def job_at(place: str) -> Path:
    """Return the job directory that *place* names: a path, or else a name below ./crawls."""
    from ..job.directory import STATE

    here, below = Path(place), Path(JOBS) / place
    if (here / STATE).is_file():
        return here
    if not (below / STATE).is_file() and (alike := _alike(place)):
        raise click.UsageError(f"no job is called {place!r}; did you mean {' or '.join(alike)}?")
    return below if (below / STATE).is_file() else here


def _alike(place: str) -> list[str]:
    """Return up to three jobs whose names begin with *place*, as those of a spider with arguments do."""
    from ..job.view import find_jobs

    start = place.lower()
    return [path.name for path in find_jobs(JOBS) if path.name.lower().startswith(start)][:3]


def last_job(root: str) -> Path:
    from ..job.directory import STATE
    from ..job.view import find_jobs

    found = find_jobs(root)
    if not found:
        raise click.UsageError(f"no jobs below {root!r}: name a job directory")
    return max(found, key=lambda path: (path / STATE).stat().st_mtime)
