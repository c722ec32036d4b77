"""What a terminal shows of a crawl."""

import io

from rich.console import Console

from crawler.cli.live_view import drawn
from crawler.frontier import HostFigures
from crawler.module import Analyzer, Downloader, Pipeline
from crawler.report.bottleneck import NOTHING
from crawler.report.progress import Moment
from crawler.scheduler import DataArgs, ModuleArgs, RequestArgs, Scheduler
from crawler.testing import Site


def test_control_characters_in_hosts_and_reasons_are_escaped():
    scheduler = Scheduler()
    modules = ModuleArgs([Downloader(Site({}))], [Analyzer(lambda _: [])], [Pipeline()])
    scheduler.init(RequestArgs(), DataArgs(), modules)
    bad = HostFigures("\x1b]0;pwned\x07", 1, 0, 0, 0, None, 0.1, "\x1b[2J", latency=0.5)
    screen = io.StringIO()

    Console(width=120, file=screen).print(
        drawn(Moment(scheduler.summary(), NOTHING, None, [bad, bad]))
    )

    shown = screen.getvalue()
    assert r"\x1b]0;pwned\x07" in shown
    assert r"\x1b[2J" in shown
    assert "\x1b" not in shown
