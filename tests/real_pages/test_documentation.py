"""Documentation that packages of the system have installed is crawled completely: as far as wget2 gets."""

import re
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote

import pytest

pytestmark = [pytest.mark.long, pytest.mark.timeout(1700)]
#: The first page of the documentation in each package.
FIRST_PAGES = {
    "cppreference-doc-en-html": "/usr/share/cppreference/doc/html/en/index.html",
    "libboost1.81-doc": "/usr/share/doc/libboost1.81-doc/doc/html/index.html",
    "openjdk-17-doc": "/usr/share/doc/openjdk-17-doc/api/index.html",
    "postgresql-doc-15": "/usr/share/doc/postgresql-doc-15/html/index.html",
    "python3-doc": "/usr/share/doc/python3-doc/html/index.html",
    "sqlite3-doc": "/usr/share/doc/sqlite3/index.html",
    "valgrind": "/usr/share/doc/valgrind/html/index.html",
}
SENT = re.compile(r'"GET ([^ ?]+)\S* HTTP/1\.[01]" 200')


@contextmanager
def served(folder, log):
    """Serve *folder* in a process of its own, which logs its replies in *log*; yield its URL."""
    command = [sys.executable, "-um", "http.server", "--bind", "127.0.0.1", "-d", folder, "0"]
    with (
        log.open("w") as replies,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=replies, text=True) as server,
    ):
        try:
            yield re.search(r"http://\S+/", server.stdout.readline())[0]
        finally:
            server.terminate()


def pages_in(log):
    sent = map(unquote, SENT.findall(log.read_text()))
    return {path for path in sent if path.endswith((".html", ".htm", "/"))}


@pytest.mark.skipif(shutil.which("wget2") is None, reason="needs the package wget2")
@pytest.mark.parametrize("package", FIRST_PAGES)
def test_every_page_that_wget2_fetches_is_fetched(package, tmp_path):
    first = Path(FIRST_PAGES[package])
    if not first.is_file():
        pytest.skip(f"needs the package {package}")
    theirs, ours = tmp_path / "theirs.log", tmp_path / "ours.log"

    with served(first.parent, theirs) as url:
        wget2 = ["wget2", "-q", "-r", "-l", "inf", "--robots=off", "--max-threads=4", "-P", "copy"]
        subprocess.run([*wget2, "--delete-after", url + first.name], cwd=tmp_path, timeout=800)
    with served(first.parent, ours) as url:
        crawl = [sys.executable, "-m", "crawler", "crawl", url + first.name, "--depth", "none"]
        quick = ["--delay", "0", "--per-host", "8", "-s", "politeness.latency_factor=0"]
        subprocess.run([*crawl, *quick], cwd=tmp_path, timeout=800)

    assert len(pages_in(theirs)) > 10
    assert pages_in(theirs) - pages_in(ours) == set()
