"""RemoteAnalyzer: an analyzer whose pages are analysed by a worker in another process."""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from itertools import groupby
from typing import Any

import gevent
from gevent.lock import Semaphore

from ...data import Item, LostItem, Request, Response
from ...errors import CrawlerError, ModuleError, Refusal
from ...serialization import error_to_dict, request_from_dict, response_to_dict
from ..analyzer import Analyzer, Found, found_in, links_in
from ..base import describe
from .frames import Frame, pack
from .transport import IN_FLIGHT, Disconnected, Transport, defer_time_limit

log = logging.getLogger(__name__)

#: A page has crashed if so many workers ended that worked on it, or so many that had received it.
_STRIKES, _DEATHS = 2, 10
#: Attempts to start a worker before the call fails.
_STARTS = 3
#: Seconds before a worker is started again if the last one completed no page; doubles each time.
_PAUSE, _LONGEST_PAUSE = 0.1, 5.0
#: Seconds in which a worker must be ready, and must end.
_READY_TIMEOUT, _END_TIMEOUT = 60.0, 5.0


class ChildError(CrawlerError):
    """
    A failure in a worker process; the text includes the traceback from there.

    *kind* is "crashed" if the page ended the worker, or the worker could not be started.
    """

    def __init__(
        self,
        reason: str,
        kind: str = "crashed",
        trace: str = "",
        place: tuple[str, int] | None = None,
    ) -> None:
        super().__init__(f"{reason}\n{trace}" if trace else reason)
        self.reason = reason
        self.kind = kind
        self.trace = trace
        #: File and line of the callback.
        self.place = place

    def __reduce__(self) -> tuple[type[ChildError], tuple[Any, ...]]:
        return type(self), (self.reason, self.kind, self.trace, self.place)


class RemoteAnalyzer(Analyzer):
    """
    Sends responses to a worker, which analyses them one after another.

    *connect* starts a worker and returns the transport to it; the worker first gets
    *greeting*, a packed frame. When a worker ends, another is started and gets the pages that
    were in flight again; findings that were passed on are not passed on twice. A page that
    ends two workers has failed: "crashed". *fetch* fetches what a callback in the worker asks
    for, in the greenlet that waits for the callback's page.
    """

    def __init__(
        self,
        connect: Callable[[], Transport],
        greeting: bytes,
        fetch: Callable[[Request], Response],
        **identity: Any,
    ) -> None:
        super().__init__(self._answers, **identity)
        self.recovers = True
        self._connect = connect
        self._greeting = greeting
        self._fetch = fetch
        self._free_calls = Semaphore(IN_FLIGHT)
        self._starting = Semaphore()
        self._transport: Transport | None = None
        self._closed = False
        #: Pages that this worker completed.
        self._completed = 0
        #: Workers in a row that completed no page.
        self._useless_starts = 0
        #: Workers that replaced another.
        self.restarts = 0

    def start(self) -> None:
        """Start the worker now, not with the first page; raise ChildError if it is impossible."""
        if self._closed:
            raise ChildError(f"{self.mid} has been closed")
        transport = self._connect()
        _greet(transport, self._greeting)
        if self._closed:
            transport.close(0)
        self._transport, self._completed = transport, 0

    def close(self) -> dict[str, Any]:
        """End the worker, within seconds, and return its last message."""
        self._closed = True
        transport, self._transport = self._transport, None
        return {} if transport is None else transport.close(_END_TIMEOUT)

    def analyze(self, response: Response) -> Generator[Found, None, None]:
        """Wait until the worker gets to *response*; then return the generator of its findings."""
        return _wait_for_worker(self._analysis(response, Response))

    def recover(self, error: ModuleError) -> Generator[Found, None, None]:
        return _wait_for_worker(self._analysis(error, ModuleError))

    def _analysis(self, origin: Any, kind: type) -> Generator[Found, None, None]:
        request: Request | None = origin.request if isinstance(origin, kind) else None  # type: ignore[attr-defined]
        try:
            with self._handling(origin, kind, request):
                yield from self._findings(origin)
        except ModuleError as error:
            cause = error.__cause__
            if not isinstance(cause, ChildError):
                raise
            # With the worker's reason, as if the callback had failed in this process.
            raise self.error(str(self.mid), error.request, cause.reason, cause.kind) from cause

    def _findings(self, origin: Response | ModuleError) -> Iterator[Any]:
        """Yield None when the worker has got to *origin*, then what it finds."""
        for answer in self._answers(origin):
            for is_text, some in groupby(answer, _is_text):
                if is_text:
                    yield from links_in(origin, list(some))
                else:
                    for found in some:
                        yield from _data(found, origin)

    def _answers(self, origin: Response | ModuleError) -> Iterator[list[Any]]:
        """Yield each finding once, however many workers are needed."""
        frame = _call_frame(origin)
        strikes = deaths = passed = 0
        while True:
            try:
                for answer in self._call_worker(frame, origin, passed):
                    passed += len(answer)
                    yield answer
                return
            except Disconnected as ended:
                deaths += 1
                strikes += ended.at_work
                log.warning("%s: %s, with %s in flight", self.mid, ended, origin)
                if strikes >= _STRIKES or deaths >= _DEATHS:
                    raise ChildError(str(ended)) from ended

    def _call_worker(
        self, frame: Frame, origin: Response | ModuleError, skip: int
    ) -> Iterator[list[Any]]:
        """
        Call the worker and yield its answer, without the first *skip* findings.

        The worker is free for other calls before the last part is passed on.
        """
        answer: list[Any] = [None, *(found_in(origin, one) for one in getattr(origin, "found", ()))]
        message: dict[str, Any] = {}
        with self._free_transport() as transport, transport.call(*frame):
            while "end" not in message:
                yield answer[skip:]
                skip = max(0, skip - len(answer))
                message = self._next(transport, message)
                answer = message.get("found", [])
            self._completed += 1
        yield answer[skip:]
        if "failed" in message:
            raise ChildError(**message["failed"])

    @contextmanager
    def _free_transport(self) -> Iterator[Transport]:
        defer_time_limit(self._free_calls.acquire)
        try:
            yield self._live_transport()
        finally:
            self._free_calls.release()

    def _next(self, transport: Transport, last: dict[str, Any]) -> dict[str, Any]:
        """Return the message after *last*, which may have asked for a page."""
        if "fetch" in last:
            transport.send(self._fetch_result(request_from_dict(last["fetch"])))
        if "fetch" in last or any(map(_is_item, last.get("found", ()))):
            # The time to fetch, or to pass items on, was not the worker's.
            transport.restart_clock()
        message, _ = transport.receive()
        return message

    def _fetch_result(self, request: Request) -> bytes:
        try:
            return pack(*_response_frame("fetched", self._fetch(request)))
        except Refusal as refusal:
            return pack({"refused": refusal.reason})
        except ModuleError as error:
            return pack({"failed": error_to_dict(error)})
        except Exception as error:  # it is raised where the callback called fetch()
            return pack({"impossible": describe(error)})

    def _live_transport(self) -> Transport:
        """Return the transport to a living worker; all calls wait while one is started."""
        defer_time_limit(self._starting.acquire)
        try:
            attempts = 0
            while self._transport is None or self._transport.dead:
                attempts += 1
                try:
                    self._restart()
                except (ChildError, OSError):
                    if attempts >= _STARTS or self._closed:
                        raise
            return self._transport
        finally:
            self._starting.release()

    def _restart(self) -> None:
        """Start a worker, after a pause if those before it ended without completing a page."""
        if self._transport is not None:
            self._useless_starts = 0 if self._completed else self._useless_starts + 1
            if self._useless_starts:
                pause = min(_PAUSE * 2.0 ** (self._useless_starts - 1), _LONGEST_PAUSE)
                defer_time_limit(gevent.sleep, pause)
            self.restarts += 1
        self.start()

    def _extra(self) -> dict[str, Any]:
        pid = None if self._transport is None else self._transport.pid
        return {"pid": pid, "restarts": self.restarts}


def _wait_for_worker(findings: Generator[Found, None, None]) -> Generator[Found, None, None]:
    """Return *findings* when the worker has got to them: no time limit counts before."""
    next(findings)
    return findings


def _greet(transport: Transport, greeting: bytes) -> None:
    """Send *greeting* and return when the worker is ready; raise ChildError if it cannot be."""
    late = Disconnected(f"not ready after {_READY_TIMEOUT:g} s", at_work=False)
    try:
        with gevent.Timeout(_READY_TIMEOUT, late):
            transport.send(greeting)
            message, _ = defer_time_limit(transport.receive)
    except BaseException as error:
        transport.close(0)
        if isinstance(error, Disconnected):
            raise ChildError(f"an analyzer could not be started: {error}") from None
        raise
    if "unable" in message:
        transport.close(_END_TIMEOUT)
        raise ChildError(f"an analyzer could not be started:\n{message['unable']}")


def _call_frame(origin: Response | ModuleError) -> Frame:
    if isinstance(origin, Response):
        return _response_frame("page", origin)
    return {"error": error_to_dict(origin)}, b""


def _response_frame(name: str, response: Response) -> Frame:
    fields = response_to_dict(response, raw=True)
    fields.pop("found", None)  # what a middleware found is passed on here, not by the worker
    body = fields.pop("body", b"")
    return {name: fields}, body


def _is_text(found: Any) -> bool:
    return type(found) is str


def _is_item(found: Any) -> bool:
    return type(found) is dict and "item" in found


def _data(found: Any, origin: Response | ModuleError) -> Iterator[Any]:
    """Yield the data for a finding that is not text; one made in this process is a datum."""
    if type(found) is not dict:
        yield found
    elif "item" in found:
        yield Item(found["item"], origin.request)
    elif "lost" in found:
        yield LostItem(found["lost"])
    elif "links" in found:
        yield from links_in(origin, found["links"], found["refusal"])
    else:
        yield request_from_dict(found["request"])
