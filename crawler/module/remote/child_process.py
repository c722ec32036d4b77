"""ChildProcess: a process that this one starts, and that answers frames over a socket."""

from __future__ import annotations

import os
import signal
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from fcntl import F_DUPFD_CLOEXEC, fcntl
from functools import partial
from time import monotonic
from typing import Any

import gevent
from gevent import monkey, socket
from gevent.event import AsyncResult, Event
from gevent.lock import Semaphore
from gevent.os import fork_and_watch

from ...errors import TimeLimit
from .frames import MEMORY_FD, SOCKET_FD, Frame, FrameParser, pack
from .relayed_output import pass_on
from .shared_memory import Slots
from .transport import IN_FLIGHT, Disconnected, Transport, defer_time_limit

#: Seconds that the system may take to reap a process that was killed.
_REAP_TIMEOUT = 5.0
_READ_SIZE = 1 << 18
#: An HTML parser frees a page at once, and glibc would return the memory to the kernel each time.
_KEEP_THE_HEAP = {
    "MALLOC_TRIM_THRESHOLD_": str(256 << 20),
    "MALLOC_TOP_PAD_": str(16 << 20),
    "MALLOC_MMAP_THRESHOLD_": str(256 << 20),
}
_blocking_waitpid = monkey.get_original("os", "waitpid")


class ChildProcess(Transport):
    """
    A process started with *command*, not forked, and the socket to it.

    The child works on calls in the order in which they were sent, so what it sends is for
    the first call in *_turns*, and only that call reads. A call that is abandoned kills the
    child; the calls behind it get Disconnected. The child's end of the socket closes when
    this process ends, whatever ends it.
    """

    def __init__(self, command: list[str]) -> None:
        #: Becomes the exit status, or None if that remains unknown.
        self._status: AsyncResult[int | None] = AsyncResult()
        self._socket, theirs = socket.socketpair()
        self._slots = Slots(IN_FLIGHT)
        try:
            self.pid = _spawn(command, theirs.fileno(), self._slots.descriptor, self._status)
        except BaseException:
            self._socket.close()
            self._slots.close()
            raise
        finally:
            theirs.close()
            os.close(self._slots.descriptor)
        self.dead = False
        #: The moment from which the time limit of the current call counts.
        self._began = monotonic()
        self._parser = FrameParser()
        self._writing = Semaphore()
        self._turns: deque[Event] = deque()

    @contextmanager
    def call(self, message: dict[str, Any], body: bytes) -> Iterator[None]:
        turn = Event()
        offset = self._slots.put(body)
        if offset is not None:
            message, body = message | {"at": [offset, len(body)]}, b""
        try:
            if not self._write(pack(message, body), turn):
                raise Disconnected(self._exit_reason(), at_work=False)
            defer_time_limit(turn.wait)
            if self.dead:
                raise Disconnected(self._exit_reason(), at_work=False)
            self._began = monotonic()
            yield
        except BaseException:
            self.kill()
            raise
        finally:
            if offset is not None:
                self._slots.free(offset)
            self._leave(turn)

    def send(self, frame: bytes) -> None:
        self._write(frame)

    def _write(self, frame: bytes, turn: Event | None = None) -> bool:
        """
        Send *frame* and return whether the child could take it.

        *turn* is set when the child gets to the frame.
        """
        defer_time_limit(self._writing.acquire)
        try:
            if turn is not None:
                self._join(turn)
            rest = memoryview(frame)
            while rest:
                rest = rest[defer_time_limit(self._socket.send, rest) :]
        except OSError:
            return False
        except BaseException:
            self.kill()  # the child cannot parse what follows half a frame
            raise
        finally:
            self._writing.release()
        return True

    def receive(self) -> Frame:
        """
        Return the next frame of the child, for the call whose turn it is.

        A time limit of the caller counts from when the child began to work on the call, not
        from when the call was sent.
        """
        limit, left = None, None
        while True:
            try:
                with gevent.Timeout(left, limit):
                    return self._next()
            except TimeLimit as expired:
                limit, left = expired, self._began + expired.seconds - monotonic()
                if left <= 0:
                    raise

    def restart_clock(self) -> None:
        self._began = monotonic()

    def close(self, timeout: float) -> dict[str, Any]:
        last: dict[str, Any] = {}
        with (
            suppress(OSError, Disconnected, TimeLimit),
            gevent.Timeout(timeout, TimeLimit(timeout)),
        ):
            self._socket.shutdown(socket.SHUT_WR)
            while True:
                last, _ = self._next()
        self.kill()
        self._wait()
        self._release()
        return last

    def kill(self) -> None:
        """End the child at once and wake all calls that wait for it."""
        if self.dead:
            return
        self.dead = True
        if not self._status.ready():  # otherwise another process may have the same pid by now
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
        if not _gevent_reaps():
            reaping = gevent.get_hub().threadpool.spawn(_reap, self.pid)
            reaping.rawlink(lambda ended: self._status.set(ended.value))
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
            self._release()

    def _release(self) -> None:
        self._socket.close()
        self._slots.close()

    def _next(self) -> Frame:
        """Return the next frame that is an answer; pass on what the child logs and prints."""
        while pass_on((frame := self._next_of_any_kind())[0]):
            pass
        return frame

    def _next_of_any_kind(self) -> Frame:
        while (frame := self._parser.take()) is None:
            try:
                piece = self._socket.recv(_READ_SIZE)
            except OSError:
                piece = b""
            if not piece:
                at_work = not self.dead
                self.kill()
                raise Disconnected(self._exit_reason(), at_work=at_work)
            self._parser.add(piece)
        return frame

    def _exit_reason(self) -> str:
        self.kill()
        status = self._wait()
        if status is None:
            return f"process {self.pid} ended"
        code = os.waitstatus_to_exitcode(status)
        if code < 0:
            return f"process {self.pid} was ended by signal {-code} ({signal.strsignal(-code)})"
        return f"process {self.pid} ended with exit status {code}"

    def _wait(self) -> int | None:
        """Return the exit status; None if it does not become known in time."""
        return defer_time_limit(self._status.wait, _REAP_TIMEOUT)

    def __repr__(self) -> str:
        state = "dead" if self.dead else f"{len(self._turns)} in flight"
        return f"<ChildProcess {self.pid}, {state}>"


def _spawn(command: list[str], theirs: int, memory: int, status: AsyncResult[int | None]) -> int:
    """
    Start *command* and return its process id; it inherits only *theirs*, *memory* and stderr.

    Stdout is stderr too: what a library prints there must not get among the records. A stderr
    that is closed here is the null device there. The process has its own process group, so that
    Ctrl-C in a terminal does not reach it.
    """
    # Moved out of the way, so that neither overwrites the other before it is in its place.
    high = [fcntl(descriptor, F_DUPFD_CLOEXEC, MEMORY_FD + 1) for descriptor in (theirs, memory)]
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        *([] if _is_inherited(2) else [(os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0)]),
        (os.POSIX_SPAWN_DUP2, 2, 1),
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
        if not _gevent_reaps():
            return start()
        return int(fork_and_watch(lambda watcher: status.set(watcher.rstatus), fork=start))
    finally:
        for descriptor in high:
            os.close(descriptor)


def _is_inherited(descriptor: int) -> bool:
    try:
        return os.get_inheritable(descriptor)
    except OSError:  # it is closed
        return False


def _gevent_reaps() -> bool:
    """Return whether gevent waits for all child processes: it does in a patched program."""
    return monkey.is_module_patched("os") and gevent.get_hub().loop.default


def _reap(pid: int) -> int | None:
    """Wait in a thread for a process that was killed and return its exit status."""
    try:
        status: int = _blocking_waitpid(pid, 0)[1]
    except ChildProcessError:
        return None  # other code waits for all child processes of this program
    return status
