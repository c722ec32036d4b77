"""``crawler cluster``: many schedulers on one job, through Redis."""

from __future__ import annotations

import click

from .check import check
from .collect import collect
from .control import pause, restart, resume, rm, status, stop
from .join import join
from .report import report
from .run import run
from .start import start
from .urls import urls
from .why import why


@click.group()
def cluster() -> None:
    """Work on one job with many schedulers, through Redis.

    The schedulers may be processes of one machine or of many. docs/cluster.md explains it.

    Example: crawler cluster run quotes.py --schedulers 4 -O quotes.jsonl
    """


_WATCHING = (status, report, urls, why)
_STEERING = (pause, resume, restart, stop, rm)
for _command in (check, start, join, collect, run, *_WATCHING, *_STEERING):
    cluster.add_command(_command)
