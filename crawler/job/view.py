"""JobView: the figures of a job and the story of each of its URLs, read from outside."""

from __future__ import annotations

import fcntl
import json
import os
import re
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Self

from .. import url as urls
from ..credentials import hide_passwords, without_credentials
from ..errors import InvalidURL, JobError
from ..frontier import Fingerprint, UrlCounts
from ..frontier.durable.rows import seal
from ..frontier.durable.schema import FORMAT
from ..module.errors_by_line import ErrorLine, ErrorsByLine
from .directory import LOCK, STATE, read_about

_COLUMNS = (
    "url, status, reason, depth, found_on, code, bytes, seconds, redirects, attempts, met, ended"
)
#: The columns of a story, from the rows of one query and from what is known beside them.
_SELECT = f"""
SELECT {_COLUMNS}, coalesce(nearest_depth, depth),
    CASE WHEN nearest_depth IS NULL THEN found_on ELSE nearest_on END
FROM urls LEFT JOIN
"""  # noqa: S608 - nothing but constants
_NEARER = "(SELECT key, depth AS nearest_depth, found_on AS nearest_on FROM nearer) USING (key)"
#: The same for formats before 3.
_NO_NEARER = "(SELECT NULL AS nearest_depth, NULL AS nearest_on)"
#: A URL that was turned away at first may have been admitted later, and one that was to be
#: fetched again has several rows: the last that was admitted counts.
_EACH = f"""
WITH last AS (
    SELECT max(CASE WHEN status = 'turned_away' THEN 0 ELSE id END) AS admitted, max(id) AS id
    FROM urls GROUP BY key
)
{_SELECT} {{nearer}}
WHERE id IN (SELECT CASE WHEN admitted THEN admitted ELSE id END FROM last)
    AND (:status IS NULL OR coalesce(status, 'pending') = :status)
    AND (:reason IS NULL OR reason = :reason)
ORDER BY id
"""  # noqa: S608 - nothing but constants
_STORIES = f"{_SELECT} {{nearer}} WHERE key = ? OR url = ? OR instr(redirects, ?) ORDER BY id"
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class Story:
    """
    What became of a URL, under the URL of its first request.

    *status* is done, failed, refused or turned_away, or pending. Times are seconds since
    1970; *code*, *bytes* and *seconds* are those of the last response. *depth* is that at
    which it was fetched; *nearest_depth* is the smallest at which it was found, *nearest_on*
    that page. *trace* is the traceback of the first error at the line where its callback failed.
    """

    url: str
    status: str
    reason: str
    depth: int
    found_on: str | None
    code: int | None
    bytes: int | None
    seconds: float | None
    redirects: tuple[str, ...]
    attempts: tuple[str, ...]
    met: float
    ended: float | None
    nearest_depth: int
    nearest_on: str | None
    trace: str = ""

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


#: The fields in the order in which they are selected.
_FIELDS = Story.__slots__[:-1]


class JobView:
    """Reads a job directory, whether a process works in it or not."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        state = self.path / STATE
        if not state.is_file():
            raise JobError(
                f"{self.path} is not a job directory: {STATE} is missing; `crawler jobs` lists those here"
            )
        with ExitStack() as on_error:
            try:
                self._connection = sqlite3.connect(f"{state.resolve().as_uri()}?mode=ro", uri=True)
                on_error.callback(self.close)
                (version,) = self._connection.execute("PRAGMA user_version").fetchone()
            except sqlite3.DatabaseError as error:
                raise JobError(f"{state} cannot be read: {error}") from error
            if not version:
                raise JobError(f"{state} cannot be read: it is empty, or damaged")
            if version > FORMAT:
                raise JobError(
                    f"{state} has format {version}, and this version reads format {FORMAT}"
                )
            on_error.pop_all()
        self._nearer = _NEARER if version >= 3 else _NO_NEARER

    @property
    def about(self) -> Mapping[str, Any]:
        """What the job is about, as written when it began; empty if that cannot be read."""
        return read_about(self.path)

    @property
    def user(self) -> str:
        """The process that works in it now; empty if none does."""
        try:
            with (self.path / LOCK).open() as lock:
                try:
                    fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
                except OSError:
                    return lock.read(200).strip() or "another process"
        except OSError:
            pass
        return ""

    @property
    def state(self) -> str:
        """
        Whether the crawl is running, finished, unfinished, or empty: no URL was admitted.

        It is unfinished if its process was stopped or killed, or if a limit has cut it off.
        """
        if self.user:
            return "running"
        counts, summary = self.counts(), self.summary()
        if not counts.admitted:
            return "empty"
        # Versions before have committed no summary, or none with a reason.
        status, reason = (summary or {}).get("status", "stopped"), self.reason or "finished"
        has_finished = (status, reason, counts.pending) == ("stopped", "finished", 0)
        return "finished" if has_finished else "unfinished"

    @property
    def reason(self) -> str:
        """Why the last process has ended, or a limit has cut the crawl off; empty if unknown."""
        return str((self.summary() or {}).get("reason", ""))

    def counts(self) -> UrlCounts:
        """Return what had become of the URLs met at the last commit."""
        counts = self.fact("counts")
        return self._counted() if counts is None else UrlCounts(**counts)

    def summary(self) -> Mapping[str, Any] | None:
        """Return the summary of the crawl as it was about a second ago at most, or at its end."""
        summary: Mapping[str, Any] | None = self.fact("summary")
        return summary

    def _counted(self) -> UrlCounts:
        """Count the rows: format 1 has no other counts, and only one row for a URL turned away."""
        by_outcome: dict[str, dict[str, int]] = {}
        query = "SELECT coalesce(status, 'pending'), reason, count(*) FROM urls GROUP BY 1, 2"
        for status, reason, number in self._rows(query):
            by_outcome.setdefault(status, {})[reason or ""] = number
        away = by_outcome.pop("turned_away", {})
        totals = {status: sum(reasons.values()) for status, reasons in by_outcome.items()}
        admitted = sum(totals.values())
        return UrlCounts(
            met=admitted + sum(away.values()),
            admitted=admitted,
            pending=totals.get("pending", 0),
            done=totals.get("done", 0),
            failed=by_outcome.get("failed", {}),
            refused=by_outcome.get("refused", {}),
            turned_away=away,
        )

    def urls(self, status: str | None = None, reason: str | None = None) -> Iterator[Story]:
        """Yield each URL the job has met, once, or those with a *status* and a *reason*."""
        query = _EACH.format(nearer=self._nearer)
        for row in self._rows(query, {"status": status, "reason": reason}):
            yield _story(row)

    def why(self, url: str) -> list[Story]:
        """Return what happened to *url*: as a request of its own, or as the target of a redirect."""
        url = without_credentials(url)
        try:
            key = self._fingerprint().of(urls.canonicalize(url))
            url = urls.without_fragment(url)
        except InvalidURL:
            key = b""
        query = _STORIES.format(nearer=self._nearer)
        rows = self._rows(query, (key, url, json.dumps(url)))
        return [self._with_trace(_story(row)) for row in rows]

    def _with_trace(self, story: Story) -> Story:
        """Return *story* with the traceback of its error, or of the first one of its line."""
        if story.status != "failed" or not story.attempts:
            return story
        traces = (one.trace for one in self.error_lines() if one.is_of(story.attempts[-1]))
        return replace(story, trace=next(traces, ""))

    def error_lines(self) -> list[ErrorLine]:
        """Return the lines of code that raised errors, those with the most first."""
        kept = ErrorsByLine()
        if (fact := self.fact("errors")) is not None:
            kept.continue_from(fact)
        return kept.most()

    def _fingerprint(self) -> Fingerprint:
        """Return how the job makes its keys; formats before 3 do not say it."""
        fact = self.fact("fingerprint")
        return Fingerprint("mmh3") if fact is None else Fingerprint.from_dict(fact)

    def fact(self, name: str) -> Any:
        """Return the value committed as *name*; None if there is none, or it is damaged."""
        for value, sealed in self._rows("SELECT value, seal FROM facts WHERE name = ?", (name,)):
            return json.loads(value) if sealed == seal(name, value) else None
        return None

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def _rows(self, query: str, values: Any = ()) -> Iterator[Any]:
        try:
            with closing(self._connection.execute(query, values)) as rows:
                yield from rows
        except sqlite3.DatabaseError as error:
            raise JobError(f"{self.path / STATE} cannot be read: {error}") from error


def find_jobs(root: str | os.PathLike[str]) -> list[Path]:
    """Return the job directories in *root*, and *root* itself if it is one."""
    places = [Path(root), *sorted(Path(root).glob("*/"))]
    return [place for place in places if (place / STATE).is_file()]


def directory_name(text: str) -> str:
    """Return a name for a job's directory; no *text* can make it lead out of its parent."""
    return _NOT_IN_A_NAME.sub("_", text).strip("._")[:100] or "crawl"


def _story(row: tuple[Any, ...]) -> Story:
    fields = dict(zip(_FIELDS, row, strict=True))
    fields |= {"status": fields["status"] or "pending", "reason": fields["reason"] or ""}
    for name in ("redirects", "attempts"):
        try:
            fields[name] = tuple(json.loads(fields[name])) if fields[name] else ()
        except ValueError as error:
            raise JobError(f"the {name} of {fields['url']} are damaged: {error}") from error
    fields["url"] = _shown(fields["url"])
    for name in ("found_on", "nearest_on"):
        fields[name] = fields[name] and _shown(fields[name])
    fields["redirects"] = tuple(map(_shown, fields["redirects"]))
    return Story(**fields)


def _shown(url: str) -> str:
    """Return *url* without a password: rows of text that is not a URL, and old ones, may have one."""
    return hide_passwords(without_credentials(url))
