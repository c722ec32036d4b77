"""A site that another process serves: nginx where it is installed, else our own server."""

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

#: Seconds a request may take before the whole counts as hung, and the whole in any case.
_SLOWEST, _LEAST = 0.03, 60.0


class Site(Protocol):
    """A site being served; *kind* says by what."""

    kind: str
    shape: Shape

    def counts(self) -> tuple[int, int]:
        """Return how many pages were asked for since the last call: different ones, and all."""

    def complaints(self) -> str:
        """Return the end of what the server has logged as errors."""


def kind() -> str:
    """Say which server served() will use."""
    return Nginx.kind if executable() else OwnServer.kind


@contextmanager
def served(shape: Shape) -> Iterator[Site]:
    with Nginx.serving(shape) if kind() == Nginx.kind else OwnServer(shape) as site:
        yield site


def visit(
    site: Site, target: str, arguments: Mapping[str, Any], requests: int, *, patched: bool = True
) -> dict[str, Any]:
    """Let a child make so many *requests*; if it fails, the error has what the server says, too."""
    child = Child(target, {"site": asdict(site.shape), **arguments}, patched)
    try:
        return child.run(max(_LEAST, _SLOWEST * requests))
    except BenchError as error:
        said = site.complaints()
        raise BenchError(f"{error}; {site.kind} says: {said}" if said else str(error)) from None


class OwnServer:
    """Our server, in a child that ends when its input does; it complains to stderr at once."""

    kind = "own server"

    def __init__(self, shape: Shape) -> None:
        arguments = {"shape": asdict(shape)}
        command = Child(
            "crawler.bench.sites.server:main", arguments, patched=False, core=SERVER
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
        assert self._child.stdin  # noqa: S101 - it was asked for
        self._child.stdin.write("\n")
        self._child.stdin.flush()
        counted = json.loads(self._line())
        return counted["pages"], counted["requests"]

    def complaints(self) -> str:
        return ""

    def _line(self) -> str:
        assert self._child.stdout  # noqa: S101 - it was asked for
        line = self._child.stdout.readline()
        if not line:
            raise BenchError(f"the server ended with {self._child.wait()}; see its error above")
        return line

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._child.communicate(timeout=10)
