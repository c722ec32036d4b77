"""LivePage: the server of the live page, on the loopback interface."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Self

from .access import new_token
from .live_app import live_app
from .live_run import LiveRun
from .loopback import listen, serve, url_of
from .records import RecentRecords
from .rendering import sections
from .updates import Updates

if TYPE_CHECKING:
    from gevent.pywsgi import WSGIServer

    from ..report.progress import Moment, Progress
    from ..scheduler import Scheduler

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
        self._listener = listen(port)
        self._server: WSGIServer | None = None
        self._run: LiveRun
        self._updates = Updates(self._sections)

    @property
    def url(self) -> str:
        return url_of(self._listener, self._token)

    def follow(
        self, scheduler: Scheduler, progress: Progress, *, job: Path, stop: Callable[[], object]
    ) -> None:
        """Serve the page of the crawl of *scheduler* in the directory *job*; *stop* ends it."""
        run = self._run = LiveRun(scheduler, progress, self.records, job, stop)
        self._server = serve(self._listener, live_app(run, self._updates), self._token)

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
