"""``crawler portal``: tasks, runs and their figures in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..._distribution import install_command
from ..options import load_settings, log_options

if TYPE_CHECKING:
    from ...portal.exposure import Exposure

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command()
@click.option(
    "--dir",
    "directory",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("portal"),
    show_default=True,
    help="Where the portal keeps its tasks, users and runs.",
)
@click.option(
    "--spiders",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=Path(),
    help="Where the spider files are.  [default: this directory]",
)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8800, show_default=True, help="0: a free one."
)
@click.option(
    "--allow-git",
    multiple=True,
    metavar="PREFIX",
    help="Let projects have git URLs that begin with it, such as file:///srv/git/ or "
    "https://git.intranet/; repeatable.",
)
@click.option(
    "--redis",
    "redis_url",
    metavar="URL",
    help="The server of a cluster, whose jobs the portal then shows.  [default: the variable "
    "CRAWLER_REDIS or the setting redis, if there is one]",
)
@click.option(
    "--address",
    default="127.0.0.1",
    show_default=True,
    help="Where to listen; any other needs --tls-cert or --behind-proxy, and --allow-host.",
)
@click.option(
    "--allow-host",
    multiple=True,
    metavar="NAME",
    help="A name by which browsers reach the portal, such as portal.example.org; repeatable.",
)
@click.option("--tls-cert", type=_FILE, help="Serve https with the certificates in a PEM file.")
@click.option("--tls-key", type=_FILE, help="Its key, unless it is in the same file.")
@click.option(
    "--behind-proxy",
    is_flag=True,
    help="Believe X-Forwarded-For, -Proto and -Host: only a proxy may reach the portal then.",
)
@click.option("--alarm-hook", default="", metavar="URL", help="POST each new alarm to it, as JSON.")
@log_options
def portal(
    directory: Path,
    spiders: Path,
    port: int,
    allow_git: tuple[str, ...],
    redis_url: str | None,
    alarm_hook: str,
    **exposed: Any,
) -> None:
    """Run tasks by a timetable, and show their runs in a browser.

    The first start prints a link that is valid once, for 15 minutes: choose a name and a password
    there. Runs are processes of their own: they go on if the portal is stopped, and it knows them
    again when it is back. Ctrl-C stops the portal.

    Other machines reach it with --address 0.0.0.0 --allow-host portal.example.org --tls-cert
    site.pem.

    Example: crawler portal --spiders spiders/ --port 8800
    """
    try:
        from ...portal.portal_server import Portal
    except ImportError as error:
        raise click.UsageError(
            f"the portal needs its extra: {install_command('portal')} ({error.name} is missing)"
        ) from None
    from ...portal.runs.alarm_hook import wrong_hook
    from ..interrupts import Interrupts

    exposure = _exposure(**exposed)
    if alarm_hook and (problem := wrong_hook(alarm_hook)):
        raise click.UsageError(f"--alarm-hook: {problem}")
    try:
        server = Portal(
            directory, spiders, port, allow_git, _redis(redis_url), exposure, alarm_hook
        )
    except OSError as error:
        raise click.UsageError(f"cannot start: {error}") from None
    with Interrupts() as interrupts:
        try:
            server.start()
        except OSError as error:
            raise click.UsageError(
                f"cannot use port {port}: {error.strerror}; choose another"
            ) from None
        click.echo(f"portal: {server.url}", err=True)
        if server.first_url:
            click.echo(f"first start, open within 15 minutes: {server.first_url}", err=True)
        interrupts.first.wait()
        interrupts.acknowledge()
        server.stop()


def _exposure(
    *,
    address: str,
    allow_host: tuple[str, ...],
    tls_cert: Path | None,
    tls_key: Path | None,
    behind_proxy: bool,
) -> Exposure:
    from ...portal.exposure import Exposure

    names = frozenset(name.lower() for name in allow_host)
    exposure = Exposure(address, names, tls_cert, tls_key, behind_proxy)
    if problem := exposure.problem():
        raise click.UsageError(problem)
    return exposure


def _redis(given: str | None) -> str:
    """Return the URL of the server of a cluster; empty if none is named."""
    from ...cluster.redis import address

    known = load_settings(()).cluster.redis
    if not given and not known:
        return ""
    try:
        return address(given, known)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
