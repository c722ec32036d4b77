"""--live and `crawler report --html`, as commands."""

import re
import subprocess
import sys
from http.client import HTTPConnection
from urllib.parse import urlsplit

import gevent

from .conftest import CRAWLER, QUICK, crawler, job_of


def ask(url, method="GET"):
    parts = urlsplit(url)
    connection = HTTPConnection(parts.hostname, parts.port, timeout=120)
    connection.request(method, parts.path)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text


def live_crawl(site, cwd, *options):
    """Start a crawl with --live; return its process and the URL of its page."""
    process = subprocess.Popen(
        [*CRAWLER, "crawl", site.url("/0"), *QUICK, *options, "--live"],
        cwd=cwd,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with gevent.Timeout(120):
        for line in process.stderr:
            if found := re.search(r"live page: (http://127\.0\.0\.1:\d+/[\w-]{32,}/)", line):
                return process, found[1]
    raise AssertionError("no page")


def test_the_page_stops_the_crawl_as_ctrl_c_does(held, tmp_path):
    process, url = live_crawl(held, tmp_path)

    status, page = ask(url)
    assert (status, "running" in page) == (200, True)
    assert ask(url + "stop", "POST")[0] == 303
    held.release.set()
    out, err = process.communicate(timeout=120)

    assert process.returncode == 3
    assert "run the same command to continue" in err
    assert "live page" not in out


def test_the_page_of_a_job_is_one_file(linked, tmp_path):
    assert crawler("crawl", linked.url(), *QUICK, cwd=tmp_path).returncode == 0

    done = crawler("report", job_of(linked), "--html", "out.html", cwd=tmp_path)

    assert (done.returncode, done.stdout) == (0, "")
    page = (tmp_path / "out.html").read_text()
    assert "<dt>Left</dt><dd>0</dd>" in page
    assert "finished" in page


def test_a_port_in_use_is_a_usage_error(held, tmp_path):
    port = str(held.port)

    done = crawler("crawl", held.url("/0"), *QUICK, "--live", port, cwd=tmp_path)

    assert done.returncode == 2
    assert f"--live cannot use port {port}" in done.stderr
    assert not (tmp_path / "crawls").exists()


def test_a_url_taken_for_a_port_is_explained(tmp_path):
    done = crawler("crawl", "--live", "http://x.test/", cwd=tmp_path)

    assert done.returncode == 2
    assert "put --live last, or write --live=0" in done.stderr


def test_without_the_extra_the_remedy_is_named(tmp_path):
    code = (
        "import sys\n"
        "sys.modules['flask'] = sys.modules['jinja2'] = None\n"
        "sys.argv = ['crawler', *sys.argv[1:]]\n"
        "from crawler.__main__ import main\n"
        "main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "crawl", "http://x.test/", "--live"],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=tmp_path,
    )

    assert done.returncode == 2
    assert "[portal]" in done.stderr
