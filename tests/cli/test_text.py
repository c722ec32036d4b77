import io

from hypothesis import example, given
from hypothesis import strategies as st
from rich.console import Console

from crawler.cli.live_view import drawn
from crawler.cli.text import clock, printable, printable_lines, size
from crawler.frontier import HostFigures
from crawler.module import Analyzer, Downloader, Pipeline
from crawler.report.bottleneck import NOTHING
from crawler.report.progress import Moment
from crawler.scheduler import DataArgs, ModuleArgs, RequestArgs, Scheduler
from crawler.testing import Site


@given(st.text())
@example("\x1b]0;pwned\x07")
@example("\x9b31m")
@example("a\u202eb\u2028c\r\nd\x7f\ud800")
def test_nothing_that_acts_on_a_terminal_is_left(text):
    shown = printable(text)

    assert shown.isprintable()
    assert printable(shown) == shown
    assert all(line.isprintable() for line in printable_lines(text).split("\n"))


def test_what_is_hidden_can_still_be_read():
    assert printable("/\x1b]0;pwned\x07/é") == r"/\x1b]0;pwned\x07/é"
    assert printable(ValueError("a\nb")) == r"a\nb"
    assert printable_lines("a\nb\tc") == "a\nb\\tc"


def test_a_password_is_not_shown():
    text = "connect: http://user:s3cr3t@host/p and https://:t0ken@host:8443/ but not a:b@c"

    assert printable(text) == (
        "connect: http://user:…@host/p and https://:…@host:8443/ but not a:b@c"
    )


def test_a_host_and_what_it_rests_for_are_drawn_without_effect():
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


def test_figures_are_short():
    assert [size(n) for n in (0, 999, 1000, 12_345, 999_999, 5e9)] == [
        "0 B",
        "999 B",
        "1 kB",
        "12.3 kB",
        "1 MB",
        "5 GB",
    ]
    assert [clock(n) for n in (0, 59.6, 200, 3723)] == ["0:00", "1:00", "3:20", "1:02:03"]
