"""A site that another process serves: nginx where it is installed, else our own server."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from typing import Protocol, Self

from .child import SERVER, Child
from .nginx import Nginx
from .shape import Shape


class Site(Protocol):
    """A site being served; *kind* says by what."""

    kind: str
    shape: Shape

    def counts(self) -> tuple[int, int]:
        """Return how many pages were asked for since the last call: different ones, and all."""


def kind() -> str:
    """Say which server served() will use."""
    return Nginx.kind if shutil.which("nginx") else OwnServer.kind


@contextmanager
def served(shape: Shape) -> Iterator[Site]:
    with Nginx(shape) if kind() == Nginx.kind else OwnServer(shape) as site:
        yield site


class OwnServer:
    """Our server, in a child that ends when its input does."""

    kind = "own server"

    def __init__(self, shape: Shape) -> None:
        arguments = {"shape": asdict(shape)}
        command = Child("crawler.bench.server:main", arguments, patched=False, core=SERVER).command
        self._child = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.shape = replace(shape, port=int(self._line()))

    def counts(self) -> tuple[int, int]:
        assert self._child.stdin  # noqa: S101 - it was asked for
        self._child.stdin.write("\n")
        self._child.stdin.flush()
        counted = json.loads(self._line())
        return counted["pages"], counted["requests"]

    def _line(self) -> str:
        assert self._child.stdout  # noqa: S101 - it was asked for
        line = self._child.stdout.readline()
        if not line:
            raise RuntimeError(f"the server ended with {self._child.wait()}; see its error above")
        return line

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._child.communicate(timeout=10)
