"""JobOutputs: the files that a job writes records and exchanges to, each of them once."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ..data import Item, Request, Response
from ..errors import JobError
from ..feed import Feed, Output, Stdout, WarcWriter, as_record, open_feed

log = logging.getLogger(__name__)


class Product(NamedTuple):
    """What a request has produced in one step: the records of its items, and its exchanges."""

    records: list[dict[str, Any]]
    exchanges: list[Response]


class JobOutputs:
    """
    Holds what a request produces until its next step, and writes it with that.

    Where each output ends is committed together with the steps whose products it has. Whatever
    ends the process, an output can be cut back to the products of exactly those steps: records
    to the pages that have ended, exchanges also to redirects and retries.
    """

    def __init__(self, home: Path, ends: Mapping[str, int], written: Mapping[str, int]) -> None:
        """Continue outputs that *ends* has positions of; one in *home* may be moved with it."""
        self.feeds: list[Feed] = []
        self.archive: WarcWriter | None = None
        self._home = home.resolve()
        self._ends = ends
        self._written = written
        self._outputs: dict[str, Output] = {}
        self._records: dict[str, list[dict[str, Any]]] = {}
        self._exchanges: dict[str, list[Response]] = {}

    def open_feed(self, spec: str, *, append: bool = True) -> Feed:
        name = self._name(spec)
        feed = open_feed(spec, append=append, position=self._ends.get(name))
        if not isinstance(feed, Stdout):  # what is out cannot be cut back
            feed.written = self._written.get(name, 0)
            self._outputs[name] = feed
            self.feeds.append(feed)
        return feed

    def open_archive(self, path: str) -> WarcWriter:
        name = self._name(path)
        self.archive = WarcWriter(path, append=name in self._ends, position=self._ends.get(name))
        self._outputs[name] = self.archive
        return self.archive

    def check(self, specs: Iterable[str]) -> None:
        """Raise JobError if *specs* are not the outputs that the job has written so far."""
        wanted = {self._name(spec) for spec in specs}
        if wanted == set(self._ends):
            return
        lacking = ", ".join(sorted(wanted - set(self._ends)))
        before = ", ".join(sorted(self._ends)) or "stdout"
        would_lack = f", and {lacking} would not have those records" if lacking else ""
        raise JobError(
            f"the job {self._home} has written its records to {before} so far{would_lack}: "
            "name the same outputs again, start over with --fresh, or use another directory (--job)"
        )

    def keep(self, item: Item) -> None:
        """Hold the record of *item* until its page ends."""
        self._records.setdefault(item.request.id, []).append(as_record(item.value))

    def around(self, fetch: Callable[[Request], Response]) -> Callable[[Request], Response]:
        """Return *fetch*, which then holds each response for the archive until the next step."""
        if self.archive is None:
            return fetch

        def fetch_and_hold(request: Request) -> Response:
            response = fetch(request)
            self._exchanges.setdefault(request.id, []).append(response)
            return response

        return fetch_and_hold

    def close(self) -> JobError | None:
        """Close all outputs; return the first failure to finish one."""
        failures = [error for error in map(_closed, self._outputs.values()) if error]
        return failures[0] if failures else None

    # -- what a journal asks for ------------------------------------------------------------------

    def collect(self, request_id: str) -> Product | None:
        records = self._records.pop(request_id, None)
        exchanges = self._exchanges.pop(request_id, None)
        return Product(records or [], exchanges or []) if records or exchanges else None

    def discard(self, request_id: str) -> None:
        self._records.pop(request_id, None)
        self._exchanges.pop(request_id, None)

    def write(self, products: list[Product]) -> dict[str, Any]:
        for product in products:
            for record in product.records:
                for feed in self.feeds:
                    _write(feed, record)
            for response in product.exchanges:
                if self.archive is not None:
                    self.archive(response)
        ends = {name: output.position() for name, output in self._outputs.items()}
        written = {name: output.written for name, output in self._outputs.items()}
        return {"outputs": {**self._ends, **ends}, "written": {**self._written, **written}}

    def _name(self, path: str) -> str:
        """Return what an output is known by."""
        place = Path(path).resolve()
        return str(place.relative_to(self._home) if place.is_relative_to(self._home) else place)

    def __len__(self) -> int:
        return len(self._outputs)


def _write(feed: Feed, record: dict[str, Any]) -> None:
    """Write one record; one that cannot be written does not cost the others."""
    try:
        feed.write(record)
    except (ValueError, TypeError) as error:
        feed.unwritten += 1
        log.warning("a record cannot be written to %s: %s: %.200r", feed.path, error, record)


def _closed(output: Output) -> JobError | None:
    """Close *output*; return what kept it from being finished."""
    try:
        output.close()
    except Exception as error:  # the others are to be closed as well
        failure = JobError(
            f"cannot finish {output.path}: {error}; correct that and run the same command to continue"
        )
        failure.__cause__ = error
        return failure
    return None
