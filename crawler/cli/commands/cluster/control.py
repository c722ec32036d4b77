"""``crawler cluster status``, ``pause``, ``resume``, ``restart``, ``stop`` and ``rm``: watch and control a job."""

from __future__ import annotations

import json
from typing import Any

import click

from ...options import json_option, verbose_option
from .options import redis_option

_SERVER = "--redis redis://localhost:6379"


@click.command()
@click.argument("name")
@redis_option
@json_option
@verbose_option
def status(name: str, redis_url: str, as_json: bool) -> None:
    """Show the figures of a job: its pages, schedulers and shards, and what it takes in Redis.

    Example: crawler cluster status quotes --redis redis://localhost:6379
    """
    from ....cluster.status import job_status

    found = job_status(redis_url, name)
    if as_json:
        click.echo(json.dumps(found, indent=4))
        return
    for label, text in _rows(found):
        click.echo(f"{label:<14}{text}")


def _steering(command: str, what: str) -> click.Command:
    """Return the command that steers a job, whose help says *what* it does."""

    @click.command(command, help=f"{what}\n\nExample: crawler cluster {command} quotes {_SERVER}")
    @click.argument("name")
    @redis_option
    @json_option
    @verbose_option
    def steer(name: str, redis_url: str, as_json: bool) -> None:
        _control(redis_url, name, command, as_json=as_json)

    return steer


pause = _steering(
    "pause", "Let all schedulers of a job take no more requests; those in flight are finished."
)
resume = _steering("resume", "Let the schedulers of a job that was paused or stopped continue.")
stop = _steering(
    "stop", "Let all schedulers and the collector of a job end; `resume` and `join` continue it."
)
restart = _steering(
    "restart",
    "Let each scheduler of a job finish its requests in flight, and start again as a new process.",
)


@click.command()
@click.argument("name")
@redis_option
@json_option
@verbose_option
def rm(name: str, redis_url: str, as_json: bool) -> None:
    """Remove a job from Redis; what was collected stays.

    Example: crawler cluster rm quotes --redis redis://localhost:6379
    """
    from ....cluster.job_record import remove_job

    remove_job(redis_url, name)
    _say(f"the job {name!r} is removed", {"job": name, "status": "removed"}, as_json=as_json)


def _control(redis_url: str, name: str, command: str, *, as_json: bool) -> None:
    from ....cluster.job_record import COMMANDS, control_job, read_job

    read_job(redis_url, name)
    before = control_job(redis_url, name, command)
    is_over, wanted = before == "finished", COMMANDS[command]
    done = f"was {before}, and is {wanted} now" if wanted else "is restarted"
    done = "is finished already" if is_over else done
    facts = {"job": name, "before": before, "status": before if is_over else wanted or before}
    _say(f"the job {name!r} {done}", facts, as_json=as_json)


def _say(sentence: str, facts: dict[str, str], *, as_json: bool) -> None:
    """Print what a command has done: a *sentence* for people, or its *facts*."""
    if as_json:
        click.echo(json.dumps(facts))
    else:
        click.echo(f"crawler: {sentence}", err=True)


def _rows(found: dict[str, Any]) -> list[tuple[str, str]]:
    urls = found["urls"]
    failed = sum(urls["failed"].values())
    rows = [
        ("job", f"{found['job']}, {found['status']}, started {found['seconds']:.0f} s ago"),
        ("pages", f"{urls['done']} done, {failed} failed, {urls['pending']} left"),
        ("shards", f"{found['shards']}, {found['free_shards']} without a scheduler"),
        ("uncollected", f"{found['log_bytes']} bytes"),
        ("in Redis", f"{found['redis_bytes']} bytes"),
    ]
    for one in found["schedulers"]:
        held = f"{one['shards']} shards, {one['done']} pages done"
        rows += [("scheduler", f"{one['id']}: {held}")]
    return rows
