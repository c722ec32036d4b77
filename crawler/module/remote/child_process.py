"""Child: a process of our own that answers frames, one after another."""

from __future__ import annotations

import os
import signal
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from fcntl import F_DUPFD_CLOEXEC, fcntl
from functools import partial
from time import monotonic
from typing import Any, TypeVar

import gevent
from gevent import monkey, socket
from gevent.event import AsyncResult, Event
from gevent.lock import Semaphore
from gevent.os import fork_and_watch

from ...errors import TimeLimit
from .frames import MEMORY_FD, SOCKET_FD, Frame, FrameParser, pack
from .shared_memory import Slots

T = TypeVar("T")

#: Pages in a child's hands: the one it works on, and what keeps it busy until more can come.
IN_HAND = 3
#: Seconds that the system may take to bury a process that was killed.
_BURIAL = 5.0
_PIECE = 1 << 18
#: An HTML parser frees a page at once, and glibc would give it back to the kernel each time.
_KEEP_THE_HEAP = {
    "MALLOC_TRIM_THRESHOLD_": str(256 << 20),
    "MALLOC_TOP_PAD_": str(16 << 20),
    "MALLOC_MMAP_THRESHOLD_": str(256 << 20),
}
_blocking_waitpid = monkey.get_original("os", "waitpid")


class Gone(Exception):
    """The child has ended; *at_work* says that it was working for whoever is told this."""

    def __init__(self, how: str, *, at_work: bool) -> None:
        super().__init__(how)
        self.at_work = at_work


class Child:
    """
    A process that was started afresh, and the line to it.

    Calls have turns: the child works on their frames in the order they were sent, so what
    it says is for the first in *_turns*, who alone reads. A call that is given up halfway
    takes the child with it; those behind it learn that it is Gone. The child sees its line
    close when this process ends, however that happens.
    """

    def __init__(self, command: list[str]) -> None:
        #: Becomes the status that it ended with, or None if that remains unknown.
        self._status: AsyncResult[int | None] = AsyncResult()
        self._line, theirs = socket.socketpair()
        self._slots = Slots(IN_HAND)
        try:
            self.pid = _spawn(command, theirs.fileno(), self._slots.descriptor, self._status)
        except BaseException:
            self._line.close()
            self._slots.close()
            raise
        finally:
            theirs.close()
            os.close(self._slots.descriptor)
        self.dead = False
        #: When the child began with what it does now, as far as that counts.
        self.began = monotonic()
        self._parser = FrameParser()
        self._writing = Semaphore()
        self._turns: deque[Event] = deque()

    @contextmanager
    def turn(self, message: dict[str, Any], body: bytes) -> Iterator[None]:
        """Send a frame and wait until the child gets to it; leave when it has done with it."""
        mine = Event()
        place = self._slots.put(body)
        if place is not None:
            message, body = message | {"at": [place, len(body)]}, b""
        try:
            if not self.send(pack(message, body), mine):
                raise Gone(self._how(), at_work=False)
            patiently(mine.wait)
            if self.dead:
                raise Gone(self._how(), at_work=False)
            self.began = monotonic()
            yield
        except BaseException:
            self.kill()
            raise
        finally:
            if place is not None:
                self._slots.free(place)
            self._leave(mine)

    def send(self, frame: bytes, turn: Event | None = None) -> bool:
        """Send *frame*, at whose place *turn* will come; say if the child was there to take it."""
        patiently(self._writing.acquire)
        try:
            if turn is not None:
                self._join(turn)
            rest = memoryview(frame)
            while rest:
                rest = rest[patiently(self._line.send, rest) :]
        except OSError:
            return False
        except BaseException:
            self.kill()  # what comes after half a frame makes no sense
            raise
        finally:
            self._writing.release()
        return True

    def receive(self) -> Frame:
        """
        Return what the child says next to whoever has the turn.

        The time limit that the reader is under counts from when the child began, not from
        when the reader got in line.
        """
        limit, left = None, None
        while True:
            try:
                with gevent.Timeout(left, limit):
                    return self._next()
            except TimeLimit as rung:
                limit, left = rung, self.began + rung.seconds - monotonic()
                if left <= 0:
                    raise

    def close(self, timeout: float) -> dict[str, Any]:
        """Let the child end within *timeout* seconds; return the last that it said."""
        last: dict[str, Any] = {}
        with suppress(OSError, Gone, TimeLimit), gevent.Timeout(timeout, TimeLimit(timeout)):
            self._line.shutdown(socket.SHUT_WR)
            while True:
                last, _ = self._next()
        self.kill()
        self._wait()
        self._let_go()
        return last

    def kill(self) -> None:
        """End it at once, and tell everybody who waits for it."""
        if self.dead:
            return
        self.dead = True
        if not self._status.ready():  # otherwise its number may be another's by now
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
        if not _gevent_buries():
            burial = gevent.get_hub().threadpool.spawn(_bury, self.pid)
            burial.rawlink(lambda ended: self._status.set(ended.value))
        for turn in self._turns:
            turn.set()

    def _join(self, turn: Event) -> None:
        self._turns.append(turn)
        if self.dead or self._turns[0] is turn:
            turn.set()

    def _leave(self, turn: Event) -> None:
        with suppress(ValueError):
            self._turns.remove(turn)
        if self._turns:
            self._turns[0].set()
        elif self.dead:
            self._let_go()

    def _let_go(self) -> None:
        self._line.close()
        self._slots.close()

    def _next(self) -> Frame:
        while (frame := self._parser.take()) is None:
            try:
                piece = self._line.recv(_PIECE)
            except OSError:
                piece = b""
            if not piece:
                at_work = not self.dead
                self.kill()
                raise Gone(self._how(), at_work=at_work)
            self._parser.add(piece)
        return frame

    def _how(self) -> str:
        self.kill()
        status = self._wait()
        if status is None:
            return f"process {self.pid} ended"
        code = os.waitstatus_to_exitcode(status)
        if code < 0:
            return f"process {self.pid} was ended by signal {-code} ({signal.strsignal(-code)})"
        return f"process {self.pid} ended with exit status {code}"

    def _wait(self) -> int | None:
        """Return the status that it ended with, if that becomes known."""
        return patiently(self._status.wait, _BURIAL)

    def __repr__(self) -> str:
        return f"<Child {self.pid}, {'dead' if self.dead else f'{len(self._turns)} in hand'}>"


def patiently(wait: Callable[..., T], *arguments: Any) -> T:
    """Wait although a time limit rings: the time is not one's own while it is another's turn."""
    while True:
        try:
            return wait(*arguments)
        except TimeLimit:
            continue


def _spawn(command: list[str], line: int, memory: int, status: AsyncResult[int | None]) -> int:
    """
    Start *command* with nothing of ours but its end of the line, and return its id.

    In a group of its own, a terminal's Ctrl-C does not reach it.
    """
    # Lifted out of the way, so that neither is overwritten before it is in its place.
    high = [fcntl(descriptor, F_DUPFD_CLOEXEC, MEMORY_FD + 1) for descriptor in (line, memory)]
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_DUP2, high[0], SOCKET_FD),
        (os.POSIX_SPAWN_DUP2, high[1], MEMORY_FD),
    ]
    start = partial(
        os.posix_spawn,
        command[0],
        command,
        _KEEP_THE_HEAP | os.environ,
        file_actions=actions,
        setpgroup=0,
        setsigmask=(),
    )
    try:
        if not _gevent_buries():
            return start()
        return int(fork_and_watch(lambda watcher: status.set(watcher.rstatus), fork=start))
    finally:
        for descriptor in high:
            os.close(descriptor)


def _gevent_buries() -> bool:
    """In a patched program, gevent waits for all children; in any other, who started them does."""
    return monkey.is_module_patched("os") and gevent.get_hub().loop.default


def _bury(pid: int) -> int | None:
    """Wait for a process that was killed, in a thread, and return its status."""
    try:
        status: int = _blocking_waitpid(pid, 0)[1]
    except ChildProcessError:
        return None  # somebody waits for all children of this program
    return status
