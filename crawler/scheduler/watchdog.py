"""Watchdog: a real thread that tells when a module keeps the hub from turning."""

from __future__ import annotations

import logging
import sys
import traceback
from collections.abc import Callable
from time import monotonic
from typing import Any

from gevent import get_hub
from gevent.monkey import get_original

from ..data import Request

log = logging.getLogger(__name__)

_start_thread = get_original("_thread", "start_new_thread")
_allocate_lock = get_original("_thread", "allocate_lock")
_get_ident = get_original("_thread", "get_ident")
#: After how many times the limit a module that never yields is stuck for good.
_STUCK = 3
#: How many frames of its stack are told, the innermost ones.
_FRAMES = 30


class Watchdog:
    """
    Notices user code that never yields, which a greenlet could not.

    Twice in *limit* seconds its thread looks whether a module is at work, *working_on* a
    request, and asks the hub for an answer then. A hub that has given none for *limit*
    seconds is reported once, with the stack of its thread and the URL; after three times the
    limit *on_stuck* gets the request, in the thread of the watchdog.

    Code that never lets go of the interpreter either, as one long match of a regular
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
        #: What was worked on when the hub was asked, if it has not answered yet.
        self._suspect: Request | None = None
        self._asked_at: float | None = None
        self._reported = self._told = False
        #: Held while the thread is to run.
        self._leash = _allocate_lock()

    def start(self) -> None:
        """Watch the hub of the calling thread."""
        self._loop: Any = get_hub().loop
        self._watched = _get_ident()
        self._leash.acquire()
        _start_thread(self._watch, (monotonic() + self._limit / 2,))

    def stop(self) -> None:
        """End the thread, without waiting for it."""
        if self._leash.locked():
            self._leash.release()

    def _watch(self, due: float) -> None:
        while not self._leash.acquire(timeout=max(0.0, due - monotonic())):
            self._look(due, monotonic())
            due = monotonic() + self._limit / 2

    def _look(self, due: float, now: float) -> None:
        """Look at what goes on *now*; whoever kept the interpreter is to blame since *due*."""
        request, asked_at = self._working_on(), self._asked_at
        if request is None:
            return
        if asked_at is not None and request is self._suspect:
            self._judge(request, now - asked_at)
        elif now - due >= self._limit:
            self._reported = False
            self._judge(request, now - due)
        else:
            self._ask(request, now)

    def _ask(self, suspect: Request, now: float) -> None:
        self._suspect = suspect
        self._reported = self._told = False
        self._asked_at = now
        self._loop.run_callback_threadsafe(self._answer)

    def _answer(self) -> None:
        """Run by the hub, as soon as it turns."""
        self._asked_at = None

    def _judge(self, request: Request, seconds: float) -> None:
        if seconds >= self._limit and not self._reported:
            self._reported = True
            self._report(request, seconds)
        if seconds >= _STUCK * self._limit and not self._told:
            self._told = True
            self._tell(request)

    def _report(self, request: Request, seconds: float) -> None:
        frame = sys._current_frames().get(self._watched)  # noqa: SLF001 - there is no other way
        stack = "".join(traceback.format_stack(frame, _FRAMES)) if frame else ""
        log.error(
            "nothing moves for %.1f s, the module at work on %s does not yield:\n%s",
            seconds,
            request.url,
            stack.rstrip(),
        )

    def _tell(self, request: Request) -> None:
        if self._on_stuck is None:
            return
        try:
            self._on_stuck(request)
        except Exception:
            log.exception("%s failed", self._on_stuck)
