"""``crawler cluster check``: whether a Redis is fit for a cluster."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import click

from ....report.text import printable
from ...options import json_option, verbose_option
from .options import redis_option

if TYPE_CHECKING:
    from ....cluster.server_check import Finding


@click.command()
@redis_option
@json_option
@verbose_option
def check(redis_url: str, as_json: bool) -> None:
    """Check whether a Redis is fit for a cluster.

    Prints its version, how it keeps its data, and what it does when it is full; what is wrong, and
    the remedy. The exit code is 5 if a job could not be kept safely there.

    Example: crawler cluster check --redis redis://localhost:6379
    """
    from contextlib import closing

    from ....cluster.redis import connect, errors_of
    from ....cluster.server_check import findings, server_facts

    with closing(connect(redis_url)) as client, errors_of(redis_url):
        found = list(findings(server_facts(client)))
    if as_json:
        click.echo(json.dumps([finding._asdict() for finding in found], indent=4))
    else:
        for finding in found:
            click.echo(printable(_line(finding)))
    sys.exit(5 if any(finding.is_fatal for finding in found) else 0)


def _line(finding: Finding) -> str:
    shown = f"{finding.name:<18} {finding.value}"
    return f"{shown}: {finding.problem}; {finding.remedy}" if finding.problem else shown
