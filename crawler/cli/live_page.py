"""What --live and --metrics serve, opened for a command; and the page of a job for `crawler report`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from .._distribution import install_command

if TYPE_CHECKING:
    from ..job.view import JobView
    from ..portal.live_page import LivePage
    from ..portal.scheduler_metrics import SchedulerMetricsServer

Server = TypeVar("Server")

_EXTRA = f"needs the extra portal: {install_command('portal')}"


def open_live_page(port: int) -> LivePage:
    """Return a page on *port*, or on a free one if that is 0; raise a usage error if none can be."""
    try:
        from ..portal.live_page import LivePage
    except ImportError as error:
        raise click.UsageError(f"--live {_EXTRA} ({error.name} is missing)") from None
    return _opened("--live", LivePage, port, "none")


def open_metrics(port: int) -> SchedulerMetricsServer:
    """Return the metrics of a scheduler on *port*, as open_live_page() does."""
    try:
        from ..portal.scheduler_metrics import SchedulerMetricsServer
    except ImportError as error:
        raise click.UsageError(f"--metrics {_EXTRA} ({error.name} is missing)") from None
    return _opened("--metrics", SchedulerMetricsServer, port, "0")


def _opened(option: str, server: Callable[[int], Server], port: int, free: str) -> Server:
    try:
        return server(port)
    except OSError as error:
        raise click.UsageError(
            f"{option} cannot use port {port}: {error.strerror}; name another, or {free} for a free one"
        ) from None
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def write_job_page(view: JobView, path: Path) -> None:
    """Write the page of a job to the file *path*."""
    try:
        from ..portal.job_page import job_page
    except ImportError as error:
        raise click.UsageError(f"--html {_EXTRA} ({error.name} is missing)") from None
    path.write_text(job_page(view), encoding="utf-8")
