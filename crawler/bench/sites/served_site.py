"""A site that another process serves: nginx if it is installed, else our own server."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from typing import Any, Protocol, Self

from ..measuring.child import SERVER, BenchError, Child
from .nginx import Nginx, executable
from .shape import Shape

#: A child may take this many seconds per request, and at least this many in total.
_PER_REQUEST, _MIN_TIMEOUT = 0.03, 60.0


class ServedSite(Protocol):
    """A site with its server; *server* is the name of the server."""

    server: str
    shape: Shape

    def counts(self) -> tuple[int, int]:
        """Return the number of different pages and of all requests for pages since the last call."""

    def errors(self) -> str:
        """Return the end of the server's error log."""


def server_name() -> str:
    """Return the name of the server that served() uses."""
    return Nginx.server if executable() else OwnServer.server


@contextmanager
def served(shape: Shape) -> Iterator[ServedSite]:
    with Nginx.serving(shape) if server_name() == Nginx.server else OwnServer(shape) as site:
        yield site


def run_on(
    site: ServedSite,
    target: str,
    arguments: Mapping[str, Any],
    requests: int,
    *,
    patched: bool = True,
) -> dict[str, Any]:
    """Run *target* in a child that makes so many *requests* to *site*; an error has the server's errors too."""
    child = Child(target, {"shape": asdict(site.shape), **arguments}, patched)
    try:
        return child.run(max(_MIN_TIMEOUT, _PER_REQUEST * requests))
    except BenchError as error:
        logged = site.errors()
        message = f"{error}; {site.server} logged: {logged}" if logged else str(error)
        raise BenchError(message) from None


class OwnServer:
    """Our server in a child process, which ends when its stdin does and logs errors to our stderr."""

    server = "own server"

    def __init__(self, shape: Shape) -> None:
        arguments = {"shape": asdict(shape)}
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
        self.shape = replace(shape, port=int(self._line()))

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
