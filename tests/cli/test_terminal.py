"""What a pseudo-terminal shows, and what a pipe gets instead."""

import os
import re
import subprocess

import gevent
import pytest

from crawler.testing import LoopbackSite, Reply, faults

from .conftest import CRAWLER
from .emulator import Emulator

CTRL_C = b"\x03"
#: Colours are 30 to 49 and 90 to 107, alone or among other attributes.
COLOUR = re.compile(r"\x1b\[(?:\d+;)*(?:3\d|4\d|9\d|10[0-7])(?:;\d+)*m")
PWNED = "\x1b]0;pwned\x07"
PWNED_PAGES = {
    "/": f'<title>{PWNED}</title><a href="/{PWNED}">x</a><a href="/coded">y</a>',
    "/coded": Reply(headers={"Content-Encoding": PWNED.replace("\x07", "\x9b")}, body="x"),
}


class Endless(dict):
    """Every page links to five more, and takes its time."""

    def get(self, target, default=None):
        if target == "/robots.txt":
            return Reply(404)
        return lambda request: Reply(body=_links(request.url), delay=0.02)


def _links(url):
    return "".join(f'<a href="{url.rstrip("/")}/{n}">x</a>' for n in range(5))


@pytest.fixture
def endless():
    with LoopbackSite(Endless({"/": "x"}), addresses=("127.0.0.1", "127.0.0.2")) as site:
        yield site


@pytest.fixture
def hanging():
    """A site of which all but the first page never answer."""
    with LoopbackSite({"/": _links("/"), "/0": faults.silence(), "/1": faults.silence()}) as site:
        yield site


def crawl_of(site, *more):
    return ["crawl", site.url(), site.url(address="127.0.0.2"), "--depth", "99", *more]


FAST = ("-s", "delay=0.05", "-s", "politeness.latency_factor=0")
#: With a long delay the hosts rest at nearly every moment, however busy the machine is.
POLITE = ("-s", "delay=0.5", "-s", "politeness.latency_factor=0")


def test_the_live_view_is_drawn_again_in_place(terminal, endless):
    screen = terminal(*crawl_of(endless, *POLITE))

    screen.read_until(
        r"\d pages/s  \d+ in flight  [1-9]\d* queued  [1-9]\d* done  0 failed",
        r"download \d+/64  analysis \d+/16 \(\d+ wait\)  pipeline \d+/16",
        r"limited by the delay between requests to one host; -s delay=… shortens it",
        r"slowest hosts +latency +queued +in flight +waits for",
        r"127\.0\.0\.2(?::\d+)?\s+\d+ ms",
    )

    screen.read_until(r"(?s)pages/s.*pages/s")

    assert "\x1b[1A" in screen.shown, "the cursor goes up to draw over the last view"
    assert COLOUR.search(screen.shown)


def test_ctrl_c_finishes_the_requests_in_flight_and_prints_the_pages_left(terminal, endless):
    screen = terminal(*crawl_of(endless, *FAST))
    screen.read_until(r"[1-9]\d* done")

    screen.press(CTRL_C)

    assert screen.wait() == 3
    assert "stopping: finishing the requests in flight (Ctrl-C again to drop them)" in screen.shown
    left = re.search(r"stopped: ([1-9]\d*) pages left", screen.text)[1]
    assert re.search(rf"pages +\d+ done, 0 failed, {left} pending", screen.text)
    assert "Traceback" not in screen.shown


def test_ctrl_c_twice_drops_the_requests_in_flight(terminal, hanging):
    screen = terminal("crawl", hanging.url(), "--delay", "0", "-s", "timeout=60")
    screen.read_until("2 in flight")

    screen.press(CTRL_C)
    screen.read_until("stopping: finishing")
    screen.press(CTRL_C)

    assert screen.wait() == 130
    assert "stopped: 5 pages left" in screen.shown
    assert "Traceback" not in screen.shown
    assert screen.shown.endswith("\x1b[?25h") or screen.shown.rindex("\x1b[?25h") > (
        screen.shown.rindex("\x1b[?25l")
    ), "the cursor is shown again"


def test_ctrl_c_ends_even_a_callback_that_never_yields(terminal, endless, tmp_path):
    (tmp_path / "stuck.py").write_text(
        f"""
from crawler import Spider
class Stuck(Spider):
    start_urls = [{endless.url()!r}]
    def parse(self, response):
        print("stuck", flush=True)
        while True:
            pass
"""
    )
    screen = terminal("run", "stuck.py", "-O", "out.jsonl")
    screen.read_until("stuck")

    with gevent.Timeout(120):
        while screen.process.poll() is None:
            screen.press(CTRL_C)
            gevent.sleep(0.1)

    assert screen.wait() == 130


def test_log_lines_stay_above_the_view(terminal, endless, tmp_path):
    (tmp_path / "logging_spider.py").write_text(
        f"""
import logging
from crawler import Spider
class Logs(Spider):
    start_urls = [{endless.url()!r} + str(n) for n in range(40)]
    def parse(self, response):
        logging.getLogger("logs").warning("LOGGED %s.", response.url)
        print("PRINTED", response.url)
"""
    )
    screen = terminal("run", "logging_spider.py", "-O", "x.jsonl", *FAST)

    assert screen.wait() == 0
    emulator = Emulator(160)
    emulator.write(screen.shown)
    above, report, _ = emulator.text.partition("pages         40 done")
    assert report
    for n in range(40):
        assert f"WARNING logs: LOGGED {endless.url()}{n}.\n" in above
        assert f"PRINTED {endless.url()}{n}\n" in above
    assert "pages/s" not in above, "nothing of the view is left"


def test_no_color_turns_colours_off(terminal, endless):
    screen = terminal(*crawl_of(endless, *POLITE), NO_COLOR="1")

    screen.read_until("limited by the delay", "slowest hosts")
    screen.press(CTRL_C)

    assert screen.wait() == 3
    assert not COLOUR.search(screen.shown)


def test_a_dumb_terminal_gets_lines(terminal, endless):
    screen = terminal(*crawl_of(endless, *FAST), term="dumb")

    screen.read_until(r"pages/s .* done .*limited by")
    screen.press(CTRL_C)

    assert screen.wait() == 3
    assert "\x1b" not in screen.shown


@pytest.mark.parametrize("reader", ["", " | cat"])
def test_items_on_a_terminal_are_not_drawn_over(terminal, endless, tmp_path, reader):
    (tmp_path / "titles.py").write_text(
        f"""
from crawler import Spider
class Titles(Spider):
    start_urls = [{endless.url()!r}]
    max_depth = 9
    def parse(self, response):
        yield {{"url": response.url}}
        yield from response.links()
"""
    )
    command = [*CRAWLER, "run", "titles.py", *FAST, "-s", "max_seconds=3"]
    screen = terminal(program=["/bin/sh", "-c", f'"$@"{reader}', "sh", *command])

    screen.read_until(r'\{"url": ', r"pages/s .* done")
    screen.wait()

    assert "\x1b[1A" not in screen.shown
    assert "\x1b[2K" not in screen.shown


def test_a_pipe_gets_lines_and_no_escape_codes(endless, tmp_path):
    done = subprocess.run(
        [*CRAWLER, *crawl_of(endless, *POLITE, "-s", "max_seconds=4")],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        env=os.environ | {"TERM": "xterm-256color"},
    )

    assert done.returncode == 0, done.stderr
    assert re.search(r"^\d+\.\d pages/s .* done .* at most 0:0\d left", done.stderr, re.MULTILINE)
    assert "time_limit" in done.stdout
    assert "limited by    the delay between requests to one host" in done.stdout
    assert re.search(r"^slowest +127.0.0.\d.* ms, 127.0.0.\d", done.stdout, re.MULTILINE)
    assert "\x1b" not in done.stdout + done.stderr


def closed_pipe_as(descriptor):
    """Return what makes a *descriptor* of a child a pipe that nobody reads."""

    def close_reader():
        reader, writer = os.pipe()
        os.close(reader)
        os.dup2(writer, descriptor)

    return close_reader


@pytest.mark.parametrize(
    "args", [["settings"], ["--help"], ["version"], ["crawl", "SITE", "--depth", "0"]]
)
def test_a_closed_pipe_is_not_an_error(args, endless, tmp_path):
    args = [endless.url() if word == "SITE" else word for word in args]

    done = subprocess.run(
        [*CRAWLER, *args],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        timeout=120,
        preexec_fn=closed_pipe_as(1),
    )

    assert done.returncode == 3
    # A crawl that takes longer than a second reports its progress.
    assert [line for line in done.stderr.splitlines() if " pages/s " not in line] == []


def test_a_closed_stderr_does_not_end_a_crawl(endless, tmp_path):
    done = subprocess.run(
        [*CRAWLER, *crawl_of(endless, *POLITE, "-s", "max_seconds=3")],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
        timeout=120,
        preexec_fn=closed_pipe_as(2),
    )

    assert done.returncode == 0
    assert "time_limit" in done.stdout


@pytest.mark.parametrize("analyzers", ["0", "1"])
def test_text_of_a_page_is_escaped_on_a_terminal(terminal, tmp_path, analyzers):
    with LoopbackSite(PWNED_PAGES) as site:
        (tmp_path / "careless.py").write_text(
            f"""
import logging
from crawler import Spider
class Careless(Spider):
    start_urls = [{site.url()!r}]
    max_depth = 1
    def parse(self, response):
        logging.getLogger("careless").warning("title is %s", response.title)
        try:
            raise OSError(response.title)
        except OSError:
            logging.getLogger("careless").exception("caught")
        yield from response.links()
        raise ValueError(response.title)
    def errback(self, error):
        raise ValueError("\\x1b]0;pwned\\x07")
"""
        )
        run = ("run", "careless.py", "-O", "x.jsonl", "-s", "delay=0", "-s", "retries=1")
        run = (*run, "--analyzers", analyzers)
        crawl = terminal(*run)
        assert crawl.wait() == 1
        verbose = terminal(*run, "-v", "--job", "again")
        assert verbose.wait() == 1

    assert r"WARNING careless: title is \x1b]0;pwned\x07" in crawl.shown
    assert r"ERROR careless: caught: OSError: \x1b]0;pwned\x07" in crawl.shown
    assert r"ValueError: \x1b]0;pwned\x07" in crawl.shown
    assert "Traceback" not in crawl.shown
    assert "Traceback" in verbose.shown
    check_harmless(crawl, verbose)


def test_a_page_that_is_fetched_is_escaped_on_a_terminal(terminal):
    with LoopbackSite(PWNED_PAGES) as site:
        page = terminal("fetch", site.url())
        assert page.wait() == 0
        headers = terminal("fetch", site.url("/coded"), "--headers")
        headers.wait()

    assert r"<title>\x1b]0;pwned\x07</title>" in page.shown
    check_harmless(page, headers)


def check_harmless(*screens):
    for screen in screens:
        assert "\x1b]" not in screen.shown
        assert "\x9b" not in screen.shown
