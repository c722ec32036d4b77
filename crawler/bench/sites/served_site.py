"""A site that another process serves: nginx if it is installed, else our own server."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any, Protocol, Self

from ..measuring.child import SERVER, BenchError, Child
from .docs import Docs
from .nginx import Nginx, executable
from .site import Generated, Site, as_argument

#: A child may take this many seconds per request, and at least this many in total. Where nobody
#: knows the number of requests, it may take the time of so many.
_PER_REQUEST, _MIN_TIMEOUT, _MANY = 0.1, 300.0, 20_000


class ServedSite(Protocol):
    """A site with its server; *server* is the name of the server."""

    server: str
    shape: Site

    def counts(self) -> tuple[int, int]:
        """Return the number of different pages and of all requests for pages since the last call."""

    def errors(self) -> str:
        """Return the end of the server's error log."""


def server_name() -> str:
    """Return the name of the server that served() uses."""
    return Nginx.server if executable() else OwnServer.server


def served(shape: Site) -> AbstractContextManager[ServedSite]:
    if server_name() == Nginx.server:
        return Nginx.serving(shape)
    if isinstance(shape, Docs):
        raise BenchError("documentation needs nginx to be served, which is not installed")
    return OwnServer(shape)


def run_on(
    site: ServedSite,
    target: str,
    arguments: Mapping[str, Any],
    requests: int | None,
    *,
    patched: bool = True,
) -> dict[str, Any]:
    """Run *target* in a child that makes so many *requests* to *site*; an error has the server's errors too."""
    child = Child(target, arguments, patched)
    try:
        return child.run(max(_MIN_TIMEOUT, _PER_REQUEST * (requests or _MANY)))
    except BenchError as error:
        logged = site.errors()
        message = f"{error}; {site.server} logged: {logged}" if logged else str(error)
        raise BenchError(message) from None


class OwnServer:
    """Our server in a child process, which ends when its stdin does and logs errors to our stderr."""

    server = "own server"

    def __init__(self, shape: Generated) -> None:
        arguments = {"site": as_argument(shape)}
        command = Child(
            "crawler.bench.sites.own_server:main", arguments, patched=False, core=SERVER
        ).command
        self._child = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.shape: Site = replace(shape, port=int(self._line()))

    def counts(self) -> tuple[int, int]:
        assert self._child.stdin  # noqa: S101 - it is a pipe
        self._child.stdin.write("\n")
        self._child.stdin.flush()
        counted = json.loads(self._line())
        return counted["pages"], counted["requests"]

    def errors(self) -> str:
        return ""

    def _line(self) -> str:
        assert self._child.stdout  # noqa: S101 - it is a pipe
        line = self._child.stdout.readline()
        if not line:
            raise BenchError(f"the server ended with {self._child.wait()}; see its error above")
        return line

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._child.communicate(timeout=10)
