"""Watchdog: a real thread that reports a module which blocks the hub."""

from __future__ import annotations

import logging
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Any

from gevent import get_hub
from gevent.monkey import get_original

from ..data import Request
from .off_cpu import OffCpu

log = logging.getLogger(__name__)

_start_thread = get_original("_thread", "start_new_thread")
_allocate_lock = get_original("_thread", "allocate_lock")
_get_ident = get_original("_thread", "get_ident")
_get_native_id = get_original("_thread", "get_native_id")
#: A module that has not yielded for this many times the limit is considered stuck for good.
_STUCK = 3
#: The number of innermost frames of its stack that are logged.
_FRAMES = 30


class Watchdog:
    """
    Notices user code that never yields to the hub; a greenlet could not notice that.

    Twice in *limit* seconds its thread checks whether a module is *working_on* a request, and
    if so, asks the hub to answer. If the hub has not answered for *limit* seconds, the stack of
    its thread and the URL are logged once; after three times the limit *on_stuck* is called
    with the request, in the thread of the watchdog. Time in which the thread of the hub waits for
    a CPU, or the process is stopped, does not count.

    Code that never releases the interpreter lock either, such as one long match of a regular
    expression, is reported when it ends.
    """

    def __init__(
        self,
        limit: float,
        working_on: Callable[[], Request | None],
        on_stuck: Callable[[Request], object] | None = None,
    ) -> None:
        self._limit = limit
        self._working_on = working_on
        self._on_stuck = on_stuck
        #: The request that was worked on when the hub was asked.
        self._suspect: Request | None = None
        #: When the hub was asked; None once it has answered.
        self._asked_at: float | None = None
        self._logged = self._called = False
        #: The seconds in which the thread of the hub could not run.
        self._lost = 0.0
        #: Locked while the thread is wanted: the thread ends when it can acquire the lock.
        self._wanted = _allocate_lock()

    def start(self) -> None:
        """Watch the hub of the calling thread."""
        self._loop: Any = get_hub().loop
        self._watched = _get_ident()
        self._off_cpu = OffCpu(Path(f"/proc/self/task/{_get_native_id()}/schedstat"))
        self._wanted.acquire()
        _start_thread(self._watch, (monotonic() + self._limit / 2,))

    def stop(self) -> None:
        """End the thread, without waiting for it."""
        if self._wanted.locked():
            self._wanted.release()

    def _watch(self, due: float) -> None:
        while not self._wanted.acquire(timeout=max(0.0, due - monotonic())):
            now, lost = monotonic(), self._lost
            self._lost += self._off_cpu.lost(now - due)
            self._check(due - lost, now - self._lost)
            due = monotonic() + self._limit / 2

    def _check(self, due: float, now: float) -> None:
        """Check the hub *now*; if this check is late, the module has held the lock since *due*."""
        request, asked_at = self._working_on(), self._asked_at
        if request is None:
            return
        if asked_at is not None and request is self._suspect:
            self._escalate(request, now - asked_at)
        elif now - due >= self._limit:
            self._logged = False
            self._escalate(request, now - due)
        else:
            self._ask(request, now)

    def _ask(self, suspect: Request, now: float) -> None:
        self._suspect = suspect
        self._logged = self._called = False
        self._asked_at = now
        self._loop.run_callback_threadsafe(self._answer)

    def _answer(self) -> None:
        """Run by the hub, as soon as it is not blocked."""
        self._asked_at = None

    def _escalate(self, request: Request, seconds: float) -> None:
        """Log a module that has blocked the hub for *seconds*, or call *on_stuck*, once each."""
        if seconds >= self._limit and not self._logged:
            self._logged = True
            self._log(request, seconds)
        if seconds >= _STUCK * self._limit and not self._called:
            self._called = True
            self._call_on_stuck(request)

    def _log(self, request: Request, seconds: float) -> None:
        frame = sys._current_frames().get(self._watched)  # noqa: SLF001 - there is no other way
        stack = "".join(traceback.format_stack(frame, _FRAMES)) if frame else ""
        log.error(
            "the hub is blocked for %.1f s: the module at work on %s does not yield:\n%s",
            seconds,
            request.url,
            stack.rstrip(),
        )

    def _call_on_stuck(self, request: Request) -> None:
        if self._on_stuck is None:
            return
        try:
            self._on_stuck(request)
        except Exception:
            log.exception("%s failed", self._on_stuck)
