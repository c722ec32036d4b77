"""RemoteAnalyzer: an analyzer that lives in a child process."""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from itertools import groupby
from time import monotonic
from typing import Any

import gevent
from gevent.lock import Semaphore

from ...data import Item, Request, Response
from ...errors import CrawlerError, ModuleError, Refusal
from ...serialization import error_to_dict, request_from_dict, response_to_dict
from ..analyzer import Analyzer, Found, found_in, links_in
from ..base import describe
from .child_process import IN_HAND, Child, Gone, patiently
from .frames import Frame, pack

log = logging.getLogger(__name__)

#: Children that may die of one page, and children that may die with it in their hands.
_STRIKES, _DEATHS = 2, 10
#: Starts in a row that may fail.
_STARTS = 3
#: Seconds before a child is started again that had done nothing; doubles while it goes on.
_PAUSE, _LONGEST_PAUSE = 0.1, 5.0
#: Seconds a child may take to get ready, and to end.
_READY, _END = 60.0, 5.0


class ChildError(CrawlerError):
    """
    What went wrong in a child; the text has the child's traceback.

    *kind* is "crashed" if the child died of the page, or could not be started.
    """

    def __init__(self, reason: str, kind: str = "crashed", trace: str = "") -> None:
        super().__init__(f"{reason}\n{trace}" if trace else reason)
        self.reason = reason
        self.kind = kind
        self.trace = trace

    def __reduce__(self) -> tuple[type[ChildError], tuple[str, str, str]]:
        return type(self), (self.reason, self.kind, self.trace)


class RemoteAnalyzer(Analyzer):
    """
    Has responses analysed by a child process that *command* starts, one after another.

    The child is told *introduction* first. When it dies, it is started again, and what was
    in its hands is given to it again; findings that were passed on already are not passed
    on twice. A page that it dies of twice has failed: "crashed". *fetch* fetches what a
    callback over there asks for, in the greenlet that waits for its page.
    """

    def __init__(
        self,
        command: list[str],
        introduction: bytes,
        fetch: Callable[[Request], Response],
        **identity: Any,
    ) -> None:
        super().__init__(self._answers, **identity)
        self.recovers = True
        self._command = command
        self._introduction = introduction
        self._fetch = fetch
        self._slots = Semaphore(IN_HAND)
        self._starting = Semaphore()
        self._child: Child | None = None
        self._closed = False
        #: Pages that the child has done, and how many before it ended without any.
        self._done = self._vain = 0
        #: Children that took the place of another.
        self.restarts = 0

    def start(self) -> None:
        """Start the child now, not when the first page comes; a ChildError says why it cannot."""
        if self._closed:
            raise ChildError(f"{self.mid} has been closed")
        child = Child(self._command)
        _told(child, self._introduction)
        if self._closed:
            child.close(0)
        self._child, self._done = child, 0

    def close(self) -> dict[str, Any]:
        """End the child, within seconds, and return what it says in the end."""
        self._closed = True
        child, self._child = self._child, None
        return {} if child is None else child.close(_END)

    def analyze(self, response: Response) -> Generator[Found, None, None]:
        """Wait until the child gets to *response*; then return all that it will find."""
        return _begun(self._called(response, Response))

    def recover(self, error: ModuleError) -> Generator[Found, None, None]:
        return _begun(self._called(error, ModuleError))

    def _called(self, origin: Any, kind: type) -> Generator[Found, None, None]:
        request: Request | None = origin.request if isinstance(origin, kind) else None  # type: ignore[attr-defined]
        try:
            with self._handling(origin, kind, request):
                yield from self._findings(origin)
        except ModuleError as error:
            told = error.__cause__
            if not isinstance(told, ChildError):
                raise
            # The words of the child, as if the callback had failed here.
            raise self.error(str(self.mid), error.request, told.reason, told.kind) from told

    def _findings(self, origin: Response | ModuleError) -> Iterator[Any]:
        """Yield None when the child has got to *origin*, then what it finds."""
        for answer in self._answers(origin):
            for is_text, some in groupby(answer, _is_text):
                if is_text:
                    yield from links_in(origin, list(some))
                else:
                    yield from (_datum(found, origin) for found in some)

    def _answers(self, origin: Response | ModuleError) -> Iterator[list[Any]]:
        """Yield what the child says, however many children that takes; nothing twice."""
        question = _question(origin)
        strikes = deaths = passed = 0
        while True:
            try:
                for answer in self._asked(question, origin, passed):
                    passed += len(answer)
                    yield answer
                return
            except Gone as gone:
                deaths += 1
                strikes += gone.at_work
                log.warning("%s: %s, with %s in hand", self.mid, gone, origin)
                if strikes >= _STRIKES or deaths >= _DEATHS:
                    raise ChildError(str(gone)) from gone

    def _asked(
        self, question: Frame, origin: Response | ModuleError, skip: int
    ) -> Iterator[list[Any]]:
        """
        Ask the child, and yield its answer but for the *skip* findings that were yielded before.

        The child is free for others before the last of it is handed on.
        """
        answer: list[Any] = [None, *(found_in(origin, one) for one in getattr(origin, "found", ()))]
        message: dict[str, Any] = {}
        with self._in_hand() as child, child.turn(*question):
            while "end" not in message:
                yield answer[skip:]
                skip = max(0, skip - len(answer))
                message = self._next(child, message)
                answer = message.get("found", [])
            self._done += 1
        yield answer[skip:]
        if "failed" in message:
            raise ChildError(**message["failed"])

    @contextmanager
    def _in_hand(self) -> Iterator[Child]:
        patiently(self._slots.acquire)
        try:
            yield self._ready_child()
        finally:
            self._slots.release()

    def _next(self, child: Child, last: dict[str, Any]) -> dict[str, Any]:
        """Return what the child says after its *last* words, which may have asked for a page."""
        if "fetch" in last:
            child.send(self._fetched(request_from_dict(last["fetch"])))
        if "fetch" in last or any(map(_is_item, last.get("found", ()))):
            child.began = monotonic()  # the time to fetch, or to hand items on, was not the child's
        message, _ = child.receive()
        return message

    def _fetched(self, request: Request) -> bytes:
        try:
            return pack(*_framed("fetched", self._fetch(request)))
        except Refusal as refusal:
            return pack({"refused": refusal.reason})
        except ModuleError as error:
            return pack({"failed": error_to_dict(error)})
        except Exception as error:  # whoever asked is told, over there
            return pack({"impossible": describe(error)})

    def _ready_child(self) -> Child:
        """Return the child; one that is dead gets a successor, which everybody waits for."""
        patiently(self._starting.acquire)
        try:
            attempts = 0
            while self._child is None or self._child.dead:
                attempts += 1
                try:
                    self._restart()
                except (ChildError, OSError):
                    if attempts >= _STARTS or self._closed:
                        raise
            return self._child
        finally:
            self._starting.release()

    def _restart(self) -> None:
        """Start a child again, after a rest if the ones before it did not get to do anything."""
        if self._child is not None:
            self._vain = 0 if self._done else self._vain + 1
            if self._vain:
                patiently(gevent.sleep, min(_PAUSE * 2.0 ** (self._vain - 1), _LONGEST_PAUSE))
            self.restarts += 1
        self.start()

    def _extra(self) -> dict[str, Any]:
        pid = None if self._child is None else self._child.pid
        return {"pid": pid, "restarts": self.restarts}


def _begun(findings: Generator[Found, None, None]) -> Generator[Found, None, None]:
    """Return *findings* when the child has got to them, so that no time limit counts before."""
    next(findings)
    return findings


def _told(child: Child, introduction: bytes) -> None:
    """Introduce the crawl to *child*; return when it is ready, raise if it will not be."""
    try:
        with gevent.Timeout(_READY, Gone(f"not ready after {_READY:g} s", at_work=False)):
            child.send(introduction)
            message, _ = patiently(child.receive)
    except BaseException as error:
        child.close(0)
        if isinstance(error, Gone):
            raise ChildError(f"an analyzer could not be started: {error}") from None
        raise
    if "unable" in message:
        child.close(_END)
        raise ChildError(f"an analyzer could not be started:\n{message['unable']}")


def _question(origin: Response | ModuleError) -> Frame:
    if isinstance(origin, Response):
        return _framed("page", origin)
    return {"error": error_to_dict(origin)}, b""


def _framed(name: str, response: Response) -> Frame:
    fields = response_to_dict(response, raw=True)
    fields.pop("found", None)  # what a middleware found is not the child's business
    body = fields.pop("body", b"")
    return {name: fields}, body


def _is_text(found: Any) -> bool:
    return type(found) is str


def _is_item(found: Any) -> bool:
    return type(found) is dict and "item" in found


def _datum(found: Any, origin: Response | ModuleError) -> Any:
    """Return as a datum what the child has found and is no text; anything of ours is one."""
    if type(found) is not dict:
        return found
    if "item" in found:
        return Item(found["item"], origin.request)
    return request_from_dict(found["request"])
