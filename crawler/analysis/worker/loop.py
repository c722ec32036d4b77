"""Worker: analyses pages for another process."""

from __future__ import annotations

import traceback
from collections import deque
from collections.abc import Iterable
from time import monotonic
from typing import Any, NoReturn

from ...data import Item, Links, Request, Response
from ...errors import ModuleError, Refusal, StateError
from ...feed.record import as_record
from ...middleware.spider.chain import SpiderChain
from ...module.base import describe, one_of
from ...module.remote.frames import Frame
from ...serialization import error_from_dict, request_to_dict, response_from_dict
from ...url import resolve_or_keep
from ..spider_analyzer import analyzer_of
from .channel import Line

#: How many findings are sent together, and how many seconds one waits for the next at most.
_TOGETHER, _LATEST = 100, 0.02


class Worker:
    """
    Lets the spider of *chain* see what comes in at *line*, one page after another.

    Items go back as the record that the feeds would write. A callback that fetches waits,
    and the pages behind its own with it. What a callback found last before it ends or hangs
    its process goes with it.
    """

    def __init__(self, line: Line, chain: SpiderChain) -> None:
        self._line = line
        self._analyzer = analyzer_of(chain)
        self._waiting: deque[Frame] = deque()
        self._found: list[Any] = []
        self._sent = monotonic()
        # As a crawl lends its spider what only it has.
        chain.spider._fetch = self._fetch  # noqa: SLF001
        chain.spider._waiting = _no_waiting  # noqa: SLF001

    def work(self) -> None:
        """Analyse until the line closes."""
        while (
            frame := self._waiting.popleft() if self._waiting else self._line.receive()
        ) is not None:
            self._analyze(*frame)

    def _analyze(self, message: dict[str, Any], body: bytes) -> None:
        self._sent = monotonic()
        if "page" in message:
            findings = self._analyzer.analyze(response_from_dict(message["page"] | {"body": body}))
        else:
            findings = self._analyzer.recover(error_from_dict(message["error"]))
        failed = self._pass_on(findings)
        self._send({"end": True} | failed)

    def _pass_on(self, findings: Iterable[Any]) -> dict[str, Any]:
        """Send what is found; return what failed, to be told at the end."""
        failures: list[BaseException] = []
        try:
            for datum in findings:
                try:
                    self._found += _written(datum)
                except Exception as failure:  # one that cannot be sent costs only itself
                    failures.append(failure)
                if len(self._found) >= _TOGETHER or monotonic() - self._sent > _LATEST:
                    self._send({})
        except ModuleError as error:
            failures.append(error)
        return _failed(failures)

    def _fetch(self, request: Request) -> Response:
        self._send({"fetch": request_to_dict(request)})
        while (frame := self._line.receive()) is not None:
            message, body = frame
            if "page" not in message and "error" not in message:
                return _answer(message, body)
            self._waiting.append(frame)
        raise StateError("fetch() works while the spider is being crawled: the crawl is over")

    def _send(self, message: dict[str, Any]) -> None:
        """Send *message* with all that was found before."""
        found, self._found = self._found, []
        self._sent = monotonic()
        self._line.send({"found": found} | message if found else message)


def _written(datum: Links | Request | Item) -> list[Any]:
    """Return *datum* as it is sent: the text of each URL, or one mapping."""
    if isinstance(datum, Links):
        return [resolve_or_keep(datum.found_on, url) for url in datum.urls]
    if isinstance(datum, Item):
        return [{"item": as_record(datum.value)}]
    return [{"request": request_to_dict(datum)}]


def _failed(failures: list[BaseException]) -> dict[str, Any]:
    """Say what failed in the words that an analyzer has for it."""
    if not failures:
        return {}
    if len(failures) == 1 and isinstance(failures[0], ModuleError):
        error, told, kind = failures[0].__cause__, failures[0].reason, failures[0].kind
    else:
        error = one_of([one.__cause__ or one for one in failures], "findings failed")
        told, kind = describe(error), "parse"
    trace = "".join(traceback.format_exception(error)) if error is not None else ""
    return {"failed": {"reason": told, "kind": kind, "trace": trace}}


def _answer(message: dict[str, Any], body: bytes) -> Response:
    if "fetched" in message:
        return response_from_dict(message["fetched"] | {"body": body})
    if "refused" in message:
        raise Refusal(message["refused"])
    if "failed" in message:
        raise error_from_dict(message["failed"])
    raise StateError(f"fetch() failed: {message['impossible']}")


def _no_waiting() -> NoReturn:
    raise StateError(
        "waiting() is of no use in an analyzer of its own process, where one callback runs at a "
        "time: crawl with analyzers=0"
    )
