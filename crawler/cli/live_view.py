"""How a running crawl is shown: redrawn in place on a terminal, as lines elsewhere."""

from __future__ import annotations

from contextlib import suppress
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from .._words import counted
from ..report.bottleneck import IDLE, NOTHING
from ..report.queue_figures import QueueFigures
from ..report.text import clock, printable, size
from .in_place import InPlace
from .unblocked_stream import is_blocked

if TYPE_CHECKING:
    from ..frontier import HostFigures
    from ..module import ModuleSummary
    from ..report.progress import Moment, TimeLeft
    from ..scheduler import Summary

#: Without a terminal: seconds until the first line, and between two lines.
_FIRST_LINE, _BETWEEN_LINES = 1.0, 5.0
#: The number of hosts shown on a terminal.
_HOSTS = 3


class Screen(Console):
    """A console that raises BrokenPipeError when its output pipe is closed."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError("the reader of the output has closed it")


class View(Protocol):
    """Shows a crawl moment by moment, and prints single lines."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    def show(self, moment: Moment) -> None: ...

    def print(self, line: str) -> None: ...


def view_on(console: Console, *, in_place: bool = True) -> View:
    """Return the view for *console*; a view *in_place* needs a terminal that can move its cursor."""
    if in_place and console.is_terminal and not console.is_dumb_terminal:
        return LiveView(console)
    return Lines(console)


class LiveView:
    """Is redrawn at each moment that the terminal takes, and removed at the end."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._place = InPlace(console)

    def __enter__(self) -> Self:
        self._place.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._place.stop()

    def show(self, moment: Moment) -> None:
        if not is_blocked(self._console.file):
            self._place.draw(drawn(moment))

    def print(self, line: str) -> None:
        self._console.print(Text(printable(line)))


class Lines:
    """Prints a line every few seconds; ignores that its pipe is closed."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._next = monotonic() + _FIRST_LINE

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        pass

    def show(self, moment: Moment) -> None:
        if monotonic() >= self._next:
            self._next = monotonic() + _BETWEEN_LINES
            self.print("  ".join(filter(None, (figures(moment), bottleneck(moment)))))

    def print(self, line: str) -> None:
        with suppress(BrokenPipeError):
            self._console.print(Text(printable(line)), soft_wrap=True)


def drawn(moment: Moment) -> Group:
    """Return what a terminal shows at this moment."""
    parts: list[Text | Table] = [Text(figures(moment), style="bold"), Text(stages(moment.summary))]
    limit = bottleneck(moment)
    if limit:
        parts.append(Text(limit, style="yellow"))
    if moment.summary.error_lines:
        parts.append(Text(errors(moment.summary), style="red"))
    if len(moment.hosts) > 1:
        parts.append(_table(moment.hosts[:_HOSTS]))
    return Group(*parts)


def figures(moment: Moment) -> str:
    """Return in one line what is done and what is left."""
    summary = moment.summary
    queue = QueueFigures.of(summary.urls)
    parts = [
        f"{summary.rate:.1f} pages/s",
        f"{_handling(summary.downloaders)} in flight",
        f"{summary.queued} queued",
        f"{queue.success} done",
        f"{queue.failed} failed",
        size(summary.bytes),
        clock(summary.elapsed),
    ]
    return "  ".join([*parts, *_time_left(moment.time_left)])


def stages(summary: Summary) -> str:
    """Return how many workers of each stage are busy, and how many data wait for it."""
    workers = summary.module_args
    fetching, analysing = _handling(summary.downloaders), _handling(summary.analyzers)
    return (
        f"download {fetching}/{workers['download_workers']}  "
        f"analysis {analysing}/{workers['analyze_workers']}"
        f" ({summary.response_pool.total} wait)  "
        f"pipeline {_handling(summary.pipelines)}/{workers['pipeline_workers']}"
        f" ({summary.item_pool.total} wait)"
    )


def errors(summary: Summary) -> str:
    """Return the line of code with the most errors, and how many there are in all."""
    return printable(
        f"{counted(summary.errors.reported, 'error')}, most at {summary.error_lines[0]}"
    )


def bottleneck(moment: Moment) -> str:
    """Return what limits the speed; if the crawl waits for over two seconds, also for what."""
    if moment.bottleneck in (NOTHING, IDLE):
        return ""
    wait = moment.summary.next_wake or 0
    details = f" (waiting for {printable(moment.summary.waiting_for)})" if wait > 2 else ""
    return f"limited by {moment.bottleneck}{details}"


def _time_left(left: TimeLeft | None) -> list[str]:
    if left is None:
        return []
    return [f"{'at most ' if left.at_most else ''}{clock(left.seconds)} left"]


def _table(hosts: list[HostFigures]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("slowest hosts", overflow="ellipsis", no_wrap=True)
    for name in ("latency", "queued", "in flight"):
        table.add_column(name, justify="right")
    table.add_column("waits for")
    for row in hosts:
        numbers = (f"{row.latency * 1000:.0f} ms", str(row.queued), str(row.in_flight))
        table.add_row(Text(printable(row.host)), *numbers, Text(printable(row.why)))
    return table


def _handling(modules: tuple[ModuleSummary, ...]) -> int:
    return sum(module.handling for module in modules)
