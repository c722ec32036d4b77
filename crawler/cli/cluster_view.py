"""ClusterView: the figures of a whole job in one line of a terminal, while its records are collected."""

from __future__ import annotations

import time
from collections import deque
from typing import Any, Self

import gevent
from rich.console import Console
from rich.text import Text

from .._words import counted
from ..errors import CrawlerError, RedisAway
from ..report.text import clock, printable
from .in_place import InPlace
from .unblocked_stream import is_blocked

#: Seconds between two looks at the job; and the looks over which the rate is measured.
_LOOK = 1.0
_LOOKS = 6


class ClusterView:
    """Draws the figures of the job *name* in place, if *console* is a terminal; removes them at the end."""

    def __init__(self, redis_url: str, name: str, console: Console) -> None:
        self._redis_url = redis_url
        self._name = name
        self._console = console
        self._place = InPlace(console)
        self._is_shown = console.is_terminal and not console.is_dumb_terminal
        self._drawing: Any = None
        #: When the job was looked at, and how many pages were done then.
        self._looks: deque[tuple[float, int]] = deque(maxlen=_LOOKS)
        self._away_since = ""

    def __enter__(self) -> Self:
        if self._is_shown:
            self._place.start()
            self._drawing = gevent.spawn(self._draw)
        return self

    def __exit__(self, *exc_info: object) -> None:
        if self._is_shown:
            self._drawing.kill()
            self._place.stop()

    def _draw(self) -> None:
        while True:
            line = self._line()
            if not is_blocked(self._console.file):
                self._place.draw(Text(printable(line), style="bold"))
            gevent.sleep(_LOOK)

    def _line(self) -> str:
        from ..cluster.status import job_status

        try:
            found = job_status(self._redis_url, self._name)
        except RedisAway:
            self._away_since = self._away_since or time.strftime("%H:%M:%S")
            return f"waits for Redis since {self._away_since}"
        except CrawlerError as error:
            return str(error)
        self._away_since = ""
        self._looks.append((time.monotonic(), found["urls"]["done"]))
        return figures(found, self._rate())

    def _rate(self) -> float:
        """Return the pages per second of the last looks."""
        (began, before), (now, done) = self._looks[0], self._looks[-1]
        return max(0, done - before) / (now - began) if now > began else 0.0


def figures(found: dict[str, Any], rate: float) -> str:
    """Return in one line what `crawler cluster status` tells in several."""
    urls, schedulers = found["urls"], found["schedulers"]
    parts = [
        f"{rate:.1f} pages/s" if found["status"] == "running" else f"the job is {found['status']}",
        f"{sum(one['in_flight'] for one in schedulers)} in flight",
        f"{urls['pending']} left",
        f"{urls['done']} done",
        f"{sum(urls['failed'].values())} failed",
        counted(len(schedulers), "scheduler"),
        clock(found["seconds"]),
    ]
    return "  ".join(parts)
