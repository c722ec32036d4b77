"""LivePage: the server of the live page, on the loopback interface."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Self

import gevent
from gevent.pool import Pool
from gevent.pywsgi import LoggingLogAdapter, WSGIServer

from .access import Access, new_token
from .live_app import live_app
from .live_run import LiveRun
from .records import RecentRecords
from .rendering import sections
from .updates import Updates

if TYPE_CHECKING:
    from ..report.progress import Moment, Progress
    from ..scheduler import Scheduler

log = logging.getLogger(__name__)

_HOST = "127.0.0.1"
#: The number of connections that are served at a time.
_CONNECTIONS = 200
#: Seconds that browsers have to receive the last figures.
_PATIENCE = 1.0


class LivePage:
    """
    A page on *port*, or on a free one if that is 0; it answers once follow() was called.

    Give *records* to the crawl as a processor of its items, and every moment of it to show().
    """

    def __init__(self, port: int = 0) -> None:
        self.records = RecentRecords()
        self._token = new_token()
        self._listener = gevent.socket.socket()
        self._listener.setsockopt(gevent.socket.SOL_SOCKET, gevent.socket.SO_REUSEADDR, 1)
        try:
            self._listener.bind((_HOST, port))
            self._listener.listen()
        except OSError:
            self._listener.close()
            raise
        self._server: WSGIServer | None = None
        self._run: LiveRun
        self._updates = Updates(self._sections)

    @property
    def url(self) -> str:
        return f"http://{_HOST}:{self._listener.getsockname()[1]}/{self._token}/"

    def follow(
        self, scheduler: Scheduler, progress: Progress, *, job: Path, stop: Callable[[], object]
    ) -> None:
        """Serve the page of the crawl of *scheduler* in the directory *job*; *stop* ends it."""
        run = self._run = LiveRun(scheduler, progress, self.records, job, stop)
        self._server = WSGIServer(
            self._listener,
            Access(live_app(run, self._updates), self._token),
            spawn=Pool(_CONNECTIONS),
            log=None,
            error_log=LoggingLogAdapter(log, logging.WARNING),
        )
        self._server.start()

    def show(self, moment: Moment) -> None:
        self._run.moment = moment
        self._updates.publish()

    def end(self, moment: Moment) -> None:
        """Send the last figures to the browsers."""
        self._run.moment = moment
        self._updates.publish(last=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def close(self) -> None:
        if self._server is not None:
            self._server.stop(timeout=_PATIENCE)
        self._listener.close()

    def _sections(self) -> Mapping[str, str]:
        return sections(self._run.figures(), is_live=True)
