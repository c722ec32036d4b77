"""The command line in this process, in its own, or on a pseudo-terminal; and sites to crawl."""

import fcntl
import importlib
import logging
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import warnings
from contextlib import chdir, contextmanager
from itertools import count

import gevent
import pytest
from gevent.event import Event

from crawler import cli
from crawler.testing import LoopbackSite, Reply

CRAWLER = [sys.executable, "-m", "crawler"]
QUICK = ("-s", "delay=0", "-s", "robots=false", "--depth", "9")
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
#: What changes how programs print must come from the test.
_PLAIN = {
    name: value
    for name, value in os.environ.items()
    if name not in {"NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "TTY_COMPATIBLE"}
}


@contextmanager
def _captured(number):
    """Redirect the descriptor *number* to a file; yield a function that reads the file."""
    before = os.dup(number)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), number)
        try:
            yield lambda: os.pread(file.fileno(), 1 << 30, 0).decode()
        finally:
            os.dup2(before, number)
            os.close(before)


@contextmanager
def _process(args, cwd):
    """Set up this process for a command, and undo its changes afterwards."""
    logger, modules = logging.getLogger(), dict(sys.modules)
    handlers, level = list(logger.handlers), logger.level
    before = sys.argv, sys.stdout, sys.stderr, list(sys.path)
    signals = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    with chdir(cwd), open(1, "w", closefd=False) as out, open(2, "w", closefd=False) as err:
        sys.argv, sys.stdout, sys.stderr = ["crawler", *map(str, args)], out, err
        try:
            yield
        finally:
            sys.argv, sys.stdout, sys.stderr, sys.path[:] = before
            for number, handler in signals.items():
                signal.signal(number, handler)
    importlib.invalidate_caches()
    logger.handlers[:] = handlers
    logger.setLevel(level)
    for name in set(sys.modules) - set(modules):
        if not name.startswith("crawler"):
            del sys.modules[name]
    sys.modules.update(modules)  # a spider in os.py has taken the place of the module of that name


def crawler(*args, cwd):
    """Run a command in this process, which is patched like its own: a start would cost 0.5 s.

    Tests that need a process of their own use crawler_process() or Terminal.
    """
    with _captured(1) as out, _captured(2) as err:
        with _process(args, cwd), warnings.catch_warnings(), gevent.Timeout(120):
            warnings.simplefilter("ignore")
            with pytest.raises(SystemExit) as end:
                cli.main(lambda: None)
        return subprocess.CompletedProcess(args, end.value.code, out(), err())


def crawler_process(*args, cwd):
    """Run a command in a process of its own."""
    return subprocess.run([*CRAWLER, *args], cwd=cwd, capture_output=True, text=True, timeout=120)


def job_of(site):
    """The directory that `crawler crawl` uses for *site*."""
    return f"crawls/127.0.0.1_{site.port}"


def links(*names):
    return "<title>t</title>" + "".join(f'<a href="{name}">x</a>' for name in names)


def titles_spider(url):
    """The text of a file with two spiders."""
    return f"""
from crawler import Spider

class Titles(Spider):
    start_urls = [{url!r}]

    def parse(self, response):
        yield {{"title": response.title, "tag": getattr(self, "tag", None)}}
        yield from response.links()

class Other(Titles):
    pass
"""


@pytest.fixture
def titles(tmp_path):
    """A site of two pages and a broken link, and titles.py with a spider for it."""
    pages = {
        "/": '<title>Home</title><a href="/a">a</a><a href="/gone">x</a>',
        "/a": "<title>A</title>",
    }
    with LoopbackSite(pages) as site:
        (tmp_path / "titles.py").write_text(titles_spider(site.url()))
        yield site


@pytest.fixture
def linked():
    """A chain of 21 pages, with a link to another site and a redirect."""
    pages = {f"/{n}": links(f"/{n + 1}", "/") for n in range(20)}
    pages |= {"/": links("/0", "http://elsewhere.test/", "/moved"), "/20": links()}
    pages |= {"/moved": Reply(301, {"location": "/3"})}
    with LoopbackSite(pages) as site:
        yield site


@pytest.fixture
def held():
    """A site of 121 pages that answers ten requests, and the others when `release` is set."""
    release, asked = Event(), count(1)

    def page(request):
        n = int(request.url.rpartition("/")[2])
        assert next(asked) <= 10 or release.wait(120)
        return links(*(f"/{n * 3 + k}" for k in (1, 2, 3))) if n < 40 else ""

    with LoopbackSite({f"/{n}": page for n in range(121)}) as site:
        site.release = release
        yield site
        release.set()


def _own_the_terminal():
    """Only the terminal of a session of its own turns Ctrl-C into a signal to a process."""
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


class Terminal:
    """Runs the command line on a pseudo-terminal of its own, and keeps all that it prints."""

    def __init__(self, *args, cwd, program=CRAWLER, term="xterm-256color", **environ):
        self._main, side = pty.openpty()
        fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 160, 0, 0))
        self.process = subprocess.Popen(
            [*program, *map(str, args)],
            cwd=cwd,
            stdin=side,
            stdout=side,
            stderr=side,
            env=_PLAIN | {"TERM": term, "LANG": "C.UTF-8"} | environ,
            preexec_fn=_own_the_terminal,
        )
        os.close(side)
        self.shown = ""

    def press(self, keys):
        os.write(self._main, keys)

    @property
    def text(self):
        """What was shown, one after the other, without escape codes."""
        return _ESCAPES.sub("", self.shown)

    def read_until(self, *wanted):
        """Read until each of the *wanted* patterns has been shown."""
        with gevent.Timeout(120, False):
            while not all(re.search(pattern, self.text) for pattern in wanted):
                if not self._read():
                    break
        for pattern in wanted:
            assert re.search(pattern, self.text), self.text[-3000:]

    def wait(self):
        """Read to the end; return the exit code."""
        with gevent.Timeout(120, False):
            while self._read():
                pass
            while self.process.poll() is None:
                gevent.sleep(0.01)
        assert self.process.returncode is not None, f"does not end: {self.text[-3000:]}"
        return self.process.returncode

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self._main)

    def _read(self):
        select.select([self._main], [], [])
        try:
            part = os.read(self._main, 65536)
        except OSError:  # how a terminal says that its other side is closed
            return False
        self.shown += part.decode(errors="replace")
        return bool(part)


@pytest.fixture
def terminal(tmp_path):
    opened = []

    def open_terminal(*args, **options):
        opened.append(Terminal(*args, cwd=tmp_path, **options))
        return opened[-1]

    yield open_terminal
    for one in opened:
        one.close()


@pytest.fixture
def odd_site():
    """Pages that are missing, redirect in circles or to nowhere, or are not HTML."""
    pages = {
        "/": '<a href="/next">next</a>',
        "/gone": Reply(404, body="<h1>gone</h1>"),
        "/left": Reply(302, {"location": "/right"}),
        "/right": Reply(302, {"location": "/left"}),
        "/nowhere": Reply(302, {"location": "http://["}),
        "/picture": Reply(200, {"content-type": "image/png"}, b"\x89PNG\r\n\x1a\n"),
        "/robots.txt": "User-agent: *\nDisallow: /",
    }
    pages |= {f"/{n}": Reply(302, {"location": f"/{n + 1}"}) for n in range(20)}
    with LoopbackSite(pages) as site:
        yield site
