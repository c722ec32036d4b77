"""Portal: the pages, the runs and the store of one directory, on the loopback interface."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

from flask import Flask
from gevent.pool import Group
from werkzeug.middleware.proxy_fix import ProxyFix

from .exposure import HERE, Exposure
from .projects.builds import Builds
from .projects.lease import Lease
from .projects.spider_sources import SpiderSources
from .projects.unused_versions import UnusedVersions
from .runs.alarm_hook import AlarmHook
from .runs.cluster_jobs import ClusterJobs
from .runs.log_keeper import LogKeeper
from .runs.run_view import RunView
from .runs.runner import Runner
from .runs.stall_watch import StallWatch
from .site.app import portal_app
from .site.visitor import Visitors
from .store.database import Database
from .store.projects import Projects
from .store.runs import Runs
from .store.secret_box import SecretBox
from .web_server import WebServer


class Portal:
    """
    A portal in the directory *path* that runs the spiders in the files of *spiders*.

    *allowed_git* are beginnings of git URLs that may lead to this machine or a private network;
    *redis_url* is the server of a cluster whose jobs the portal shows and steers; *alarm_hook* is
    a URL that alarms are sent to.

    Raise OSError if the certificate of *exposure* cannot be used.
    """

    def __init__(
        self,
        path: Path,
        spiders: Path,
        port: int = 0,
        allowed_git: Collection[str] = (),
        redis_url: str = "",
        exposure: Exposure = HERE,
        alarm_hook: str = "",
    ) -> None:
        tls = exposure.tls_options()
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._database = Database(path / "portal.db")
        self._visitors = Visitors(self._database, exposure)
        projects = Projects(self._database, SecretBox(path / "portal.key"))
        self.builds = Builds(self._database, projects, path.resolve() / "versions", allowed_git)
        self._unused = UnusedVersions(self._database, self.builds)
        sources = SpiderSources(spiders.resolve(), self.builds)
        self.logs = LogKeeper(self._database, path.resolve() / "runs")
        self.runner = Runner(self._database, path.resolve() / "runs", sources)
        view = RunView(self.runner, Runs(self._database))
        self._stalls = StallWatch(self._database, view.figures)
        cluster = ClusterJobs(redis_url, self._database) if redis_url else None
        app = portal_app(self._database, self.runner, self.logs, self._visitors, sources, cluster)
        self._exposure = exposure
        self._server = WebServer((exposure.address, port), _behind(exposure, app), **tls)
        self._hook: AlarmHook | None = None
        if alarm_hook:
            lease = Lease(path / "alarms.lock")
            self._hook = AlarmHook(alarm_hook, self.builds.alarms, lambda: self.url, lease)
        self._helpers = Group()

    def start(self) -> None:
        """Listen, and look after the runs; raise OSError if the port is in use."""
        self._server.start()
        self._helpers.spawn(self.runner.serve)
        self._helpers.spawn(self.logs.serve)
        self._helpers.spawn(self._stalls.serve)
        self._helpers.spawn(self.builds.serve)
        self._helpers.spawn(self._unused.serve)
        if self._hook:
            self._helpers.spawn(self._hook.serve)

    @property
    def url(self) -> str:
        own = self._exposure
        return f"{own.scheme}://{own.url_host}:{self._server.server_port}/"

    @property
    def first_url(self) -> str:
        """The one-time link of a portal without users; empty once there is one."""
        return "" if len(self._visitors.users) else f"{self.url}setup/{self._visitors.setup_secret}"

    def stop(self) -> None:
        """Stop listening; runs go on."""
        self._helpers.kill()
        if self._hook:
            self._hook.stop()
        self.builds.stop()
        self._server.stop(timeout=1)
        self._database.close()


def _behind(exposure: Exposure, app: Flask) -> Any:
    """Return the app, which takes address, scheme and name of a visitor from its proxy, if any."""
    return ProxyFix(app, x_for=1, x_proto=1, x_host=1) if exposure.behind_proxy else app
