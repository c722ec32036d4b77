"""RunFigures: all that the page of a run shows, from a crawl in this process or from a job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any

from ..frontier import HostFigures, UrlCounts
from ..module.errors_by_line import ErrorLine
from ..report.bottleneck import IDLE, NOTHING
from ..report.final_report import final_report
from ..report.history import History
from ..report.queue_figures import QueueFigures
from ..report.reasons import explain, explain_end
from ..report.text import clock

if TYPE_CHECKING:
    from ..job.view import JobView
    from ..report.progress import Moment, Progress

#: The states in which a run goes on.
_ACTIVE = frozenset({"starting", "running", "paused", "stopping"})


@dataclass(frozen=True)
class Outcome:
    """How many URLs had an outcome for a *reason*; *sample* is one of them, or empty."""

    status: str
    reason: str
    number: int
    meaning: str
    sample: str


@dataclass(frozen=True)
class RunFigures:
    """A run at one moment. *summary* has the names of Summary.to_dict()."""

    name: str
    state: str
    #: Why it has ended early, in words.
    end: str
    urls: UrlCounts
    summary: Mapping[str, Any]
    limit: str = ""
    remedy: str = ""
    time_left: str = ""
    #: Why the hosts that wait do so.
    hosts: Sequence[HostFigures] = ()
    errors: Sequence[ErrorLine] = ()
    records: Sequence[Sequence[tuple[str, str]]] = ()
    history: History = field(default_factory=History)
    about: Mapping[str, Any] = field(default_factory=dict)

    @property
    def queue(self) -> QueueFigures:
        return QueueFigures.of(self.urls)

    @property
    def is_active(self) -> bool:
        return self.state in _ACTIVE

    @property
    def outcomes(self) -> list[Outcome]:
        """All outcomes but success, by status; the most frequent first."""
        samples = self.summary.get("samples", {})
        return [
            _outcome(status, reason, number, samples)
            for status in ("failed", "refused", "turned_away")
            for reason, number in _most_frequent(getattr(self.urls, status))
        ]

    @property
    def codes(self) -> list[tuple[int, int]]:
        """Status codes and how often each was received."""
        codes = self.summary.get("status_codes", {})
        return sorted((int(code), number) for code, number in codes.items())

    @property
    def latencies(self) -> list[tuple[float, int]]:
        """The upper bounds of latencies in seconds, and the number of responses below each."""
        found = self.summary.get("latency", {}).get("histogram", {})
        return sorted((float(bound), number) for bound, number in found.items())

    @property
    def latency(self) -> float:
        """The average latency in seconds: of late while the run goes on, then of all responses."""
        recent = self.history.latencies()
        if self.is_active and recent:
            return recent[-1][1]
        total: float = self.summary.get("latency", {}).get("total", 0.0)
        responses: int = self.summary.get("responses", 0)
        return total / max(responses, 1)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as JSON values, for the API."""
        return {
            "name": self.name,
            "state": self.state,
            "queue": self.queue.to_dict(),
            "limit": {"what": self.limit, "remedy": self.remedy},
            "hosts": [asdict(host) for host in self.hosts],
            "errors": [asdict(line) for line in self.errors],
            "records": self.records,
            "time_left": self.time_left,
            "history": self.history.to_list(),
            "summary": self.summary,
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> RunFigures:
        """Return the figures that to_dict() of another process has written."""
        summary = values["summary"]
        return cls(
            name=values["name"],
            state=values["state"],
            end=explain_end(summary["reason"]),
            urls=UrlCounts(**summary["urls"]),
            summary=summary,
            limit=values["limit"]["what"],
            remedy=values["limit"]["remedy"],
            time_left=values["time_left"],
            hosts=[HostFigures(**_known(row)) for row in values["hosts"]],
            errors=[ErrorLine(**line) for line in values["errors"]],
            records=values["records"],
            history=History(values["history"]),
        )


def of_moment(
    moment: Moment,
    progress: Progress,
    *,
    name: str,
    errors: Sequence[ErrorLine],
    records: Sequence[Sequence[tuple[str, str]]],
) -> RunFigures:
    """Return the figures of a crawl in this process."""
    summary, limit, left = moment.summary, moment.bottleneck, moment.time_left
    shows_limit = limit not in (NOTHING, IDLE)
    at_most = "at most " if left and left.at_most else ""
    return RunFigures(
        name=name,
        state=_state(summary.status, summary.reason, paused=summary.paused),
        end=explain_end(summary.reason),
        urls=summary.urls,
        summary=summary.to_dict(),
        limit=limit.what if shows_limit else "",
        remedy=limit.remedy if shows_limit else "",
        time_left=f"{at_most}{clock(left.seconds)}" if left else "",
        hosts=progress.busiest_hosts,
        errors=errors,
        records=records,
        history=progress.history,
    )


def of_job(view: JobView) -> RunFigures:
    """Return what is certain about a job: its final report, or what was committed last."""
    counts = view.counts()
    report = final_report(view) or {}
    limited = report.get("limit", {})
    return RunFigures(
        name=view.path.resolve().name,
        state=view.state,
        end=explain_end(view.reason),
        urls=counts,
        summary=view.summary() or {},
        limit=limited.get("what", ""),
        remedy=limited.get("remedy", ""),
        hosts=[HostFigures(**_known(row)) for row in report.get("hosts", ())],
        errors=view.error_lines(),
        history=History(report.get("history", ())),
        about=view.about,
    )


def _known(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a host that this version knows."""
    names = {each.name for each in fields(HostFigures)}
    return {name: value for name, value in row.items() if name in names}


def _state(status: str, reason: str, *, paused: bool) -> str:
    if status == "started":
        return "paused" if paused else "running"
    return (reason or "stopped") if status == "stopped" else status


def _outcome(
    status: str, reason: str, number: int, samples: Mapping[str, Sequence[str]]
) -> Outcome:
    if (status, reason) == ("turned_away", "seen"):
        return Outcome(status, reason, number, "links to URLs that the crawl has met before", "")
    sample = samples[reason][0] if samples.get(reason) else ""
    return Outcome(status, reason, number, explain(reason), sample)


def _most_frequent(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda pair: -pair[1])
