"""libcurl's multi interface driven by the gevent hub: no thread, no poll, nothing patched."""

from __future__ import annotations

from time import monotonic
from typing import Any, TypeAlias

import pycurl
from gevent import getcurrent
from gevent.hub import Hub

from ..._waiters import Waiters

#: What libcurl says of a failed transfer: its code and a sentence.
Failure: TypeAlias = "tuple[int, str]"

_REMOVE = pycurl.POLL_REMOVE
#: How many transfers begin together; more would leave a server idle while we work on its replies.
TOGETHER = 16
CLOSED: Failure = (pycurl.E_ABORTED_BY_CALLBACK, "the fetcher was closed")


class Multi:
    """
    Runs transfers for the greenlets of one hub in one process.

    libcurl tells which sockets to watch and when to call back at the latest; both are
    watchers of the hub's own loop, so an idle Multi costs nothing. libev and libcurl
    agree that 1 means readable and 2 writable.

    Requests of one turn of the hub are sent together, a few at a time: a server that gets them
    one by one goes to sleep after each, and the next send pays for waking it.

    At most *max_connections* transfers run at once. Others wait here, where the clock
    of their transfer has not started, so that waiting for a connection uses up no
    timeout.
    """

    def __init__(self, hub: Hub, max_connections: int) -> None:
        self.hub = hub
        self._loop: Any = hub.loop
        self.max_connections = max_connections
        self._queue = Waiters()
        self._running: dict[pycurl.Curl, Any] = {}
        self._beginning: list[pycurl.Curl] = []
        self._sockets: dict[int, Any] = {}
        self._timer: Any = None
        self._armed_for = self._due = 0.0
        self._kicked = False
        self._closed = False
        self._multi = pycurl.CurlMulti()
        self._set_max_connections(max_connections)
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._watch)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._call_back)

    def __len__(self) -> int:
        return len(self._running)

    def perform(self, easy: pycurl.Curl) -> Failure | None:
        """Run the transfer and return how it failed, if it did; an exception cancels it."""
        running = self._running
        while len(running) >= self.max_connections:
            if self._closed:
                return CLOSED
            self._queue.wait()
        running[easy] = getcurrent()
        self._beginning.append(easy)
        if len(self._beginning) >= TOGETHER:
            self._begin()
        if not self._kicked:
            self._kick()
        try:
            while easy in running:
                failure: Failure | None = self.hub.switch()
        finally:
            running.pop(easy, None)
            self._take_off(easy)
            if self._queue.asleep > 0:
                self._queue.wake()
        return failure

    def _begin(self) -> None:
        begun, self._beginning = self._beginning, []
        for easy in begun:
            if easy in self._running:
                try:
                    self._multi.add_handle(easy)
                except pycurl.error as error:
                    # Its own code is one of the multi interface, which has others.
                    failure = (pycurl.E_FAILED_INIT, str(error))
                    self._loop.run_callback(self._resume, easy, failure)

    def _take_off(self, easy: pycurl.Curl) -> None:
        if not self._closed:
            try:  # noqa: SIM105 - a context is an object for every transfer
                self._multi.remove_handle(easy)
            except pycurl.error:
                pass  # it has not begun

    def lower(self, max_connections: int) -> None:
        """Keep to fewer connections from now on; those in use beyond that end with their transfers."""
        self.max_connections = max_connections
        self._set_max_connections(max_connections)

    def _set_max_connections(self, number: int) -> None:
        self._multi.setopt(pycurl.M_MAXCONNECTS, number)
        self._multi.setopt(pycurl.M_MAX_TOTAL_CONNECTIONS, number)

    def close(self) -> None:
        """Fail what is in flight and release every connection and watcher."""
        for easy in self._running:
            self._take_off(easy)
            self._loop.run_callback(self._resume, easy, CLOSED)
        self._closed = True
        self.max_connections = 0
        self._queue.wake_all()
        self._multi.close()
        self._disarm()
        while self._sockets:
            self._sockets.popitem()[1].close()

    def _watch(self, events: int, fd: int, _multi: object, _data: object) -> None:
        # Stopped at once: libcurl may close the socket, and libev ends a process that has it
        # look at one that is closed.
        watcher = self._sockets.get(fd)
        if watcher is not None:
            watcher.stop()
        if events == _REMOVE:
            return
        if watcher is None:
            watcher = self._sockets[fd] = self._loop.io(fd, events)
        else:
            watcher.events = events
        watcher.start(self._advance, fd, pass_events=True)

    def _call_back(self, milliseconds: int) -> None:
        """
        Plan the call libcurl wants; a negative time is none.

        It changes its mind with nearly every transfer, mostly to a later time: the timer
        is left alone then, and looks at the plan again when it fires.
        """
        if milliseconds == 0:
            if not self._kicked:
                self._kick()
        elif milliseconds < 0:
            self._disarm()
        else:
            self._due = monotonic() + milliseconds / 1000
            if self._timer is None or self._due < self._armed_for:
                self._arm()

    def _kick(self) -> None:
        self._kicked = True
        self._loop.run_callback(self._kicked_off)

    def _kicked_off(self) -> None:
        if self._closed:
            return
        self._begin()
        self._kicked = False
        self._advance(0, pycurl.SOCKET_TIMEOUT)

    def _arm(self) -> None:
        self._disarm()
        self._armed_for = self._due
        self._timer = self._loop.timer(max(0.0, self._due - monotonic()))
        self._timer.start(self._fire, update=True)

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.close()
            self._timer = None

    def _fire(self) -> None:
        if monotonic() < self._due:
            self._arm()
        else:
            self._disarm()
            self._advance(0, pycurl.SOCKET_TIMEOUT)

    def _advance(self, events: int, fd: int) -> None:
        """Let libcurl work, and resume the greenlets whose transfers it ended."""
        _, running = self._multi.socket_action(fd, events)
        if running == len(self._running):
            return
        _, done, failed = self._multi.info_read()
        for easy in done:
            self._resume(easy)
        for easy, code, text in failed:
            self._resume(easy, (code, text))

    def _resume(self, easy: pycurl.Curl, failure: Failure | None = None) -> None:
        waiting = self._running.pop(easy, None)
        if waiting is not None:
            waiting.switch(failure)
