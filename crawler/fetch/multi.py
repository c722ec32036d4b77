"""libcurl's multi interface driven by the gevent hub: no thread, no poll, nothing patched."""

from __future__ import annotations

import os
import time
from typing import Any, TypeAlias

import pycurl
from gevent import getcurrent
from gevent.hub import Hub
from gevent.lock import Semaphore

#: What libcurl says of a failed transfer: its code and a sentence.
Failure: TypeAlias = "tuple[int, str]"

CLOSED: Failure = (pycurl.E_ABORTED_BY_CALLBACK, "the fetcher was closed")


class Multi:
    """
    Runs transfers for the greenlets of one hub in one process.

    libcurl tells which sockets to watch and when to call back at the latest; both are
    watchers of the hub's own loop, so an idle Multi costs nothing. libev and libcurl
    agree that 1 means readable and 2 writable.

    At most *max_connections* transfers run at once. Others wait here, where the clock
    of their transfer has not started, so that waiting for a connection uses up no
    timeout.
    """

    def __init__(self, hub: Hub, max_connections: int) -> None:
        self.hub = hub
        self.pid = os.getpid()
        self._loop: Any = hub.loop
        self.max_connections = max_connections
        self._slots = Semaphore(max_connections)
        #: How many slots are to be taken away as they are given back.
        self._surplus = 0
        self._running: dict[pycurl.Curl, Any] = {}
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
        self._slots.acquire()
        try:
            if self._closed:
                return CLOSED
            self._running[easy] = getcurrent()
            try:
                self._multi.add_handle(easy)
                while easy in self._running:
                    failure: Failure | None = self.hub.switch()
            except BaseException:
                self._release(easy)
                raise
            return failure
        finally:
            self._free_slot()

    def lower(self, max_connections: int) -> None:
        """Keep to fewer connections from now on; those in use beyond that end with their transfers."""
        self._surplus += self.max_connections - max_connections
        self.max_connections = max_connections
        self._set_max_connections(max_connections)
        while self._surplus and self._slots.acquire(blocking=False):
            self._surplus -= 1

    def _set_max_connections(self, number: int) -> None:
        self._multi.setopt(pycurl.M_MAXCONNECTS, number)
        self._multi.setopt(pycurl.M_MAX_TOTAL_CONNECTIONS, number)

    def _free_slot(self) -> None:
        if self._surplus:
            self._surplus -= 1
        else:
            self._slots.release()

    def close(self) -> None:
        """Fail what is in flight and release every connection and watcher."""
        for easy in self._running:
            self._multi.remove_handle(easy)
            self._loop.run_callback(self._resume, easy, CLOSED)
        self._closed = True
        self._multi.close()
        self._disarm()
        while self._sockets:
            self._sockets.popitem()[1].close()

    def _watch(self, events: int, fd: int, _multi: object, _data: object) -> None:
        watcher = self._sockets.get(fd)
        if watcher is None:
            if events == pycurl.POLL_REMOVE:
                return
            watcher = self._sockets[fd] = self._loop.io(fd, events)
        else:
            watcher.stop()
            if events == pycurl.POLL_REMOVE:
                return
            watcher.events = events
        watcher.start(self._advance, fd, pass_events=True)

    def _call_back(self, milliseconds: int) -> None:
        """
        Plan the call libcurl wants; a negative time is none.

        It changes its mind with nearly every transfer, mostly to a later time: the timer
        is left alone then, and looks at the plan again when it fires.
        """
        if milliseconds < 0:
            self._disarm()
        elif milliseconds == 0:
            self._kick()
        else:
            self._due = time.monotonic() + milliseconds / 1000
            if self._timer is None or self._due < self._armed_for:
                self._arm()

    def _kick(self) -> None:
        if not self._kicked:
            self._kicked = True
            self._loop.run_callback(self._kicked_off)

    def _kicked_off(self) -> None:
        self._kicked = False
        if not self._closed:
            self._advance(0, pycurl.SOCKET_TIMEOUT)

    def _arm(self) -> None:
        self._disarm()
        self._armed_for = self._due
        self._timer = self._loop.timer(max(0.0, self._due - time.monotonic()))
        self._timer.start(self._fire, update=True)

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.close()
            self._timer = None

    def _fire(self) -> None:
        if time.monotonic() < self._due:
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
            self._resume(easy, None)
        for easy, code, text in failed:
            self._resume(easy, (code, text))

    def _resume(self, easy: pycurl.Curl, failure: Failure | None) -> None:
        waiting = self._release(easy)
        if waiting is not None:
            waiting.switch(failure)

    def _release(self, easy: pycurl.Curl) -> Any:
        """Take a transfer off; return the greenlet that waits for it, if it is still on."""
        waiting = self._running.pop(easy, None)
        if waiting is not None and not self._closed:
            self._multi.remove_handle(easy)
        return waiting
