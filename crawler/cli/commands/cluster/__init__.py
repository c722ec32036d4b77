"""``crawler cluster``: many schedulers on one job, through Redis."""

from __future__ import annotations

import click

from .check import check
from .collect import collect
from .control import pause, restart, resume, rm, status, stop
from .join import join
from .run import run
from .start import start
from .why import why


@click.group()
def cluster() -> None:
    """Work on one job with many schedulers, through Redis.

    The schedulers may be processes of one machine or of many. docs/cluster.md explains it.

    Example: crawler cluster run quotes.py --schedulers 4 -O quotes.jsonl
    """


for _command in (check, start, join, collect, run, status, pause, resume, restart, stop, rm, why):
    cluster.add_command(_command)
