"""Multi: libcurl's multi interface on the gevent hub, without threads, polling or patching."""

from __future__ import annotations

from functools import partial
from time import monotonic
from typing import Any
from weakref import finalize

import pycurl
from gevent import getcurrent
from gevent.hub import Hub

from ..._waiters import Waiters
from .due_timer import DueTimer
from .handle import Failure, Handle
from .hub_clock import HubClock

_POLL_REMOVE = pycurl.POLL_REMOVE
#: The number of transfers to start together; more would leave a server idle while we process
#: its replies.
BATCH_SIZE = 16
#: If the hub has not looked for events for so many seconds, no transfer is charged with them.
_LONG = 0.25
OVERDUE: Failure = (pycurl.E_OPERATION_TIMEDOUT, "took longer than its time limit")
CLOSED: Failure = (pycurl.E_ABORTED_BY_CALLBACK, "the fetcher was closed")


class Multi:
    """
    Runs transfers for the greenlets of one hub in one process.

    libcurl reports which sockets to watch and the latest time to call it back; both become
    watchers of the hub's own loop, so an idle Multi costs nothing. libev and libcurl
    agree that 1 means readable and 2 writable.

    Requests of one iteration of the hub are sent together, a few at a time: a server that
    receives them one by one goes to sleep after each, and the next send pays for waking it.

    At most *max_connections* transfers run at once. Others wait here, before the time limits
    of their transfer start, so that the wait for a connection does not count as part of the
    timeout. Nor does the time for which a callback has kept the hub from running: it is added
    to the limits of all transfers, before libcurl can look at them. The time that libcurl itself
    needs is not: a reply without end would have no limit.
    """

    def __init__(self, hub: Hub, max_connections: int) -> None:
        self.hub = hub
        self._loop: Any = hub.loop
        self.max_connections = max_connections
        self._queue = Waiters()
        #: The greenlet that waits for a transfer, and the handle of the transfer.
        self._running: dict[pycurl.Curl, tuple[Any, Handle]] = {}
        self._to_start: list[pycurl.Curl] = []
        self._sockets: dict[int, Any] = {}
        self._clock = HubClock(self._loop)
        finalize(self, self._clock.close).atexit = False
        #: The seconds before libcurl was last run in which the hub did not look for events.
        self._lag = 0.0
        self._prolonged_at = 0.0
        #: Whether libcurl runs, and the seconds it has run since the hub looked for events.
        self._is_running = False
        self._spent = 0.0
        self._overdue_timer: Any = None
        self._timer = DueTimer(self._loop, partial(self._advance, 0, pycurl.SOCKET_TIMEOUT))
        self._is_scheduled = False
        self._closed = False
        self._multi = pycurl.CurlMulti()
        self._set_max_connections(max_connections)
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._watch)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._set_timer)

    @property
    def receiving(self) -> int:
        """How many bytes of bodies the running transfers have received, at most."""
        return sum(handle.body_size for _, handle in self._running.values())

    def __len__(self) -> int:
        return len(self._running)

    def perform(self, handle: Handle) -> Failure | None:
        """Run the transfer and return its failure, if any; an exception cancels it."""
        running, easy = self._running, handle.easy
        while len(running) >= self.max_connections:
            if self._closed:
                return CLOSED
            self._queue.wait()
        running[easy] = (getcurrent(), handle)
        self._to_start.append(easy)
        if len(self._to_start) >= BATCH_SIZE:
            self._start()
        if not self._is_scheduled:
            self._schedule()
        failure: Failure | None = CLOSED
        try:
            while easy in running:
                failure = self.hub.switch()
            handle.lag = self._lag
        finally:
            running.pop(easy, None)
            handle.note_connection(failure)
            self._remove(easy)
            if self._queue.asleep:
                self._queue.wake()
        return failure

    def _start(self) -> None:
        starting, self._to_start = self._to_start, []
        for easy in starting:
            if easy in self._running:
                try:
                    self._multi.add_handle(easy)
                except pycurl.error as error:
                    # The error's own code belongs to the multi interface, whose codes differ.
                    failure = (pycurl.E_FAILED_INIT, str(error))
                    self._loop.run_callback(self._resume, easy, failure)

    def _remove(self, easy: pycurl.Curl) -> None:
        if not self._closed:
            try:  # noqa: SIM105 - a context is an object for every transfer
                self._multi.remove_handle(easy)
            except pycurl.error:
                pass  # it has not started

    def lower(self, max_connections: int) -> None:
        """Lower the limit permanently; excess connections end with their current transfers."""
        self.max_connections = max_connections
        self._set_max_connections(max_connections)

    def _set_max_connections(self, number: int) -> None:
        self._multi.setopt(pycurl.M_MAXCONNECTS, number)
        self._multi.setopt(pycurl.M_MAX_TOTAL_CONNECTIONS, number)

    def abandon(self) -> None:
        """Do nothing more, and leave the connections open: for a process that was forked."""
        self._clock.close()

    def close(self) -> None:
        """Fail the transfers in flight and release every connection and watcher."""
        for easy in self._running:
            self._remove(easy)
            self._loop.run_callback(self._resume, easy, CLOSED)
        self._closed = True
        self.max_connections = 0
        self._queue.wake_all()
        self._multi.close()
        self._timer.cancel()
        self._clock.close()
        if self._overdue_timer is not None:
            self._overdue_timer.close()
        while self._sockets:
            self._sockets.popitem()[1].close()

    def _watch(self, events: int, fd: int, _multi: object, _data: object) -> None:
        # Stopped at once: libcurl may close the socket, and libev aborts the process if it
        # watches a closed socket.
        watcher = self._sockets.get(fd)
        if watcher is not None:
            watcher.stop()
        if events == _POLL_REMOVE:
            return
        if watcher is None:
            watcher = self._sockets[fd] = self._loop.io(fd, events)
        else:
            watcher.events = events
        watcher.start(self._advance, fd, pass_events=True)

    def _set_timer(self, milliseconds: int) -> None:
        """
        Schedule the call that libcurl asks for; a negative time cancels it.

        If libcurl asks while it runs, there is more to read than it reads at a time: all others
        have their turn first.
        """
        if milliseconds == 0 and not self._is_running:
            if not self._is_scheduled:
                self._schedule()
        elif milliseconds < 0:
            self._timer.cancel()
        else:
            self._timer.set(milliseconds / 1000)

    def _schedule(self) -> None:
        self._is_scheduled = True
        self._loop.run_callback(self._run_scheduled)

    def _run_scheduled(self) -> None:
        if self._closed:
            return
        self._start()
        self._is_scheduled = False
        self._advance(0, pycurl.SOCKET_TIMEOUT)

    def _advance(self, events: int, fd: int) -> None:
        """Run libcurl, and resume the greenlets whose transfers have ended."""
        now = monotonic()
        self._lag = now - self._clock.looked
        if self._lag > _LONG:
            self._prolong(now)
        else:
            self._spent = 0.0
        self._is_running = True
        _, running = self._multi.socket_action(fd, events)
        self._is_running = False
        self._spent += monotonic() - now
        if running == len(self._running):
            return
        _, done, failed = self._multi.info_read()
        for easy in done:
            self._resume(easy)
        for easy, code, text in failed:
            self._resume(easy, (code, text))

    def _resume(self, easy: pycurl.Curl, failure: Failure | None = None) -> None:
        waiting, _ = self._running.pop(easy, (None, None))
        if waiting is not None:
            waiting.switch(failure)

    def _prolong(self, now: float) -> None:
        """Add the time since the hub last looked for events to the limits of all transfers."""
        pause = now - max(self._clock.looked, self._prolonged_at) - self._spent
        if pause > _LONG:
            self._prolonged_at, self._spent = now, 0.0
            for _, handle in self._running.values():
                handle.prolong(pause, now)
            if self._overdue_timer is None:
                self._end_overdue()

    def _end_overdue(self) -> None:
        """
        End prolonged transfers that are overdue, and come back when the next one is.

        libcurl does so itself while it waits for a reply. While it connects, it looks at the
        limits only when they were to end at first.
        """
        now, prolonged = monotonic(), []
        for easy, (_, handle) in list(self._running.items()):
            if handle.ends_at > now:
                prolonged.append(handle.ends_at)
            elif handle.ends_at:
                self._resume(easy, OVERDUE)
        self._overdue_timer = None
        if prolonged:
            self._overdue_timer = self._loop.timer(min(prolonged) - now)
            self._overdue_timer.start(self._end_overdue, update=True)
