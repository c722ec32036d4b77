"""What a terminal shows of a crawl."""

import io
from dataclasses import replace

from rich.console import Console

from crawler.cli.live_view import drawn
from crawler.frontier import HostFigures
from crawler.module import Analyzer, Downloader, Pipeline
from crawler.report.bottleneck import NOTHING
from crawler.report.progress import Moment
from crawler.scheduler import DataArgs, ModuleArgs, RequestArgs, Scheduler
from crawler.testing import Site


def summary():
    scheduler = Scheduler()
    modules = ModuleArgs([Downloader(Site({}))], [Analyzer(lambda _: [])], [Pipeline()])
    scheduler.init(RequestArgs(), DataArgs(), modules)
    return scheduler.summary()


def test_the_line_of_code_with_the_most_errors_is_shown():
    lines = ("quotes.py:42 KeyError: '\x1b' × 17, first http://site.test/", "other.py:1 ValueError")
    screen = io.StringIO()

    moment = Moment(replace(summary(), error_lines=lines), NOTHING, None, [])
    Console(width=120, file=screen).print(drawn(moment))

    assert (
        r"most at quotes.py:42 KeyError: '\x1b' × 17, first http://site.test/" in screen.getvalue()
    )


def test_control_characters_in_hosts_and_reasons_are_escaped():
    bad = HostFigures("\x1b]0;pwned\x07", 1, 0, 0, 0, None, 0.1, "\x1b[2J", latency=0.5)
    screen = io.StringIO()

    Console(width=120, file=screen).print(drawn(Moment(summary(), NOTHING, None, [bad, bad])))

    shown = screen.getvalue()
    assert r"\x1b]0;pwned\x07" in shown
    assert r"\x1b[2J" in shown
    assert "\x1b" not in shown
