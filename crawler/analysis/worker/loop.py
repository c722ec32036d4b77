"""Worker: the loop that analyses pages for another process."""

from __future__ import annotations

import traceback
from collections import deque
from collections.abc import Iterable
from time import monotonic
from typing import Any, NoReturn

from ...current_request import CURRENT_REQUEST
from ...data import Item, Links, LostItem, Request, Response
from ...errors import ModuleError, Refusal, StateError
from ...feed.record import as_record
from ...middleware.spider.chain import SpiderChain
from ...module.base import describe, one_of
from ...module.error_line import line_of
from ...module.remote.frames import Frame
from ...serialization import error_from_dict, request_to_dict, response_from_dict
from ...url import resolve_or_keep
from ..spider_analyzer import analyzer_of
from .channel import Channel

#: Findings sent in one message at most, and seconds that a finding may wait for others.
_MOST_TOGETHER, _LONGEST_WAIT = 100, 0.02


class Worker:
    """
    Passes the pages from *channel* to the spider of *chain*, one after another.

    Items are sent as the records that feeds would write. While a callback waits for a fetch,
    the pages behind it wait too. If a callback ends or hangs the process, findings that were
    not sent yet are lost.
    """

    def __init__(self, channel: Channel, chain: SpiderChain) -> None:
        self._channel = channel
        self._analyzer = analyzer_of(chain)
        self._waiting: deque[Frame] = deque()
        self._found: list[Any] = []
        self._sent = monotonic()
        # In the parent, the crawl sets these two.
        chain.spider._fetch = self._fetch  # noqa: SLF001
        chain.spider._waiting = _no_waiting  # noqa: SLF001

    def work(self) -> None:
        """Analyse pages until the socket closes."""
        while (
            frame := self._waiting.popleft() if self._waiting else self._channel.receive()
        ) is not None:
            self._analyze(*frame)

    def _analyze(self, message: dict[str, Any], body: bytes) -> None:
        self._sent = monotonic()
        if "page" in message:
            response = response_from_dict(message["page"] | {"body": body})
            CURRENT_REQUEST.set(response.request)
            findings = self._analyzer.analyze(response)
        else:
            error = error_from_dict(message["error"])
            CURRENT_REQUEST.set(error.request)
            findings = self._analyzer.recover(error)
        failure = self._send_findings(findings)
        self._send({"end": True} | failure)

    def _send_findings(self, findings: Iterable[Any]) -> dict[str, Any]:
        """Send *findings*; return the message about what failed, for the end of the page."""
        failures: list[BaseException] = []
        try:
            for datum in findings:
                try:
                    self._found += _finding(datum)
                except Exception as failure:  # a finding that cannot be sent costs no other
                    failures.append(failure)
                if len(self._found) >= _MOST_TOGETHER or monotonic() - self._sent > _LONGEST_WAIT:
                    self._send({})
        except ModuleError as error:
            failures.append(error)
        return _failure_message(failures)

    def _fetch(self, request: Request) -> Response:
        self._send({"fetch": request_to_dict(request)})
        while (frame := self._channel.receive()) is not None:
            message, body = frame
            if "page" not in message and "error" not in message:
                return _fetched(message, body)
            self._waiting.append(frame)
        raise StateError("fetch() works only while the spider is being crawled")

    def _send(self, message: dict[str, Any]) -> None:
        """Send *message* together with the findings that wait."""
        found, self._found = self._found, []
        self._sent = monotonic()
        self._channel.send({"found": found} | message if found else message)


def _finding(datum: Links | Request | Item | LostItem) -> list[Any]:
    """Return what is sent for *datum*: the text of each URL, or one mapping."""
    if isinstance(datum, Links):
        urls = [resolve_or_keep(datum.found_on, url) for url in datum.urls]
        return [{"links": urls, "refusal": datum.refusal}] if datum.refusal else urls
    if isinstance(datum, LostItem):
        return [{"lost": datum.failed}]
    if isinstance(datum, Item):
        return [{"item": as_record(datum.value)}]
    return [{"request": request_to_dict(datum)}]


def _failure_message(failures: list[BaseException]) -> dict[str, Any]:
    """Return the reason and kind that an analyzer in the parent would give, and the traceback."""
    if not failures:
        return {}
    if len(failures) == 1 and isinstance(failures[0], ModuleError):
        error, reason, kind = failures[0].__cause__, failures[0].reason, failures[0].kind
    else:
        error = one_of([one.__cause__ or one for one in failures], "findings failed")
        reason, kind = describe(error), "parse"
    trace = "".join(traceback.format_exception(error)) if error is not None else ""
    place = line_of(error) if error is not None else None
    return {"failed": {"reason": reason, "kind": kind, "trace": trace, "place": place}}


def _fetched(message: dict[str, Any], body: bytes) -> Response:
    if "fetched" in message:
        return response_from_dict(message["fetched"] | {"body": body})
    if "refused" in message:
        raise Refusal(message["refused"])
    if "failed" in message:
        raise error_from_dict(message["failed"])
    raise StateError(f"fetch() failed: {message['impossible']}")


def _no_waiting() -> NoReturn:
    raise StateError(
        "waiting() is of no use in a process that analyses pages, where one callback runs at a "
        "time: crawl with analyzers=0"
    )
