import csv
import json
import re
import subprocess
import sys

import pytest
from gevent.event import Event

from crawler.spider import Pages
from crawler.testing import LoopbackSite

from ..conftest import crawler

CRAWLER = [sys.executable, "-m", "crawler"]
SPIDER = """
from crawler import Spider

class Titles(Spider):
    start_urls = []

    def parse(self, response):
        yield {{"title": response.title, "tag": getattr(self, "tag", None)}}
        yield from response.links()

class Other(Titles):
    pass
"""


@pytest.fixture
def site(tmp_path):
    pages = {
        "/": '<title>Home</title><a href="/a">a</a><a href="/gone">x</a>',
        "/a": "<title>A</title>",
    }
    with LoopbackSite(pages) as site:
        text = SPIDER.format().replace("start_urls = []", f"start_urls = [{site.url()!r}]")
        (tmp_path / "titles.py").write_text(text)
        yield site


def test_run_writes_items_to_stdout_and_the_report_to_stderr(site, tmp_path):
    done = crawler("run", "titles.py:Titles", "-a", "tag=x", "-s", "delay=0", cwd=tmp_path)

    assert done.returncode == 1, done.stderr
    items = [json.loads(line) for line in done.stdout.splitlines()]
    assert sorted(item["title"] for item in items) == ["A", "Home"]
    assert {item["tag"] for item in items} == {"x"}
    assert "http_404 1" in done.stderr
    assert re.search(r"^records +2 on stdout$", done.stderr, re.MULTILINE)


def test_run_writes_several_files_at_once(site, tmp_path):
    done = crawler(
        "run", "titles.py:Titles", "-O", "a.csv", "-O", "b.jsonl", "-s", "delay=0", cwd=tmp_path
    )

    assert done.returncode == 1, done.stderr
    with (tmp_path / "a.csv").open() as file:
        assert {row["title"] for row in csv.DictReader(file)} == {"A", "Home"}
    assert len((tmp_path / "b.jsonl").read_text().splitlines()) == 2


@pytest.mark.parametrize(
    ("args", "complaint"),
    [
        (["titles.py"], "must lead to one Spider; found: Titles, Other"),
        (["nothing.py"], "there is no file 'nothing.py'"),
        (["titles.py:Titles", "-s", "delya=1"], "did you mean 'delay'"),
        (["titles.py:Titles", "-s", "delay"], "-s wants NAME=VALUE, not 'delay'"),
        (["titles.py:Titles", "-O", "x.doc"], ".jsonl"),
        (["titles.py:Titles", "--fail-if", "bogus>1"], "no condition such as 'failed>1%'"),
        (["titles.py:Titles", "--min-items", "-1"], "-1"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(site, tmp_path, args, complaint):
    done = crawler("run", *args, cwd=tmp_path)

    assert done.returncode == 2
    assert complaint in done.stderr
    assert done.stderr.count("\n") == 1


def test_quality_gates_decide_the_exit_code_and_the_report(site, tmp_path):
    args = ("run", "titles.py:Titles", "-O", "x.jsonl", "-s", "delay=0")

    strict = crawler(*args, "--fail-if", "failed>10%", "--report", "junit.xml", cwd=tmp_path)
    few = crawler(*args, "--min-items", "3", "--report", "report.json", cwd=tmp_path)
    fine = crawler(*args, "--min-items", "2", "--fail-if", "failed>50%", cwd=tmp_path)

    assert strict.returncode == 5
    assert "quality gate not met: failed>10%: failed is 33.3333%" in strict.stderr
    assert 'failures="1"' in (tmp_path / "junit.xml").read_text()
    assert few.returncode == 5
    assert json.loads((tmp_path / "report.json").read_text())["gates_not_met"] == [
        "items<3: items is 2"
    ]
    assert fine.returncode == 1


@pytest.mark.parametrize(
    "args", [["demo", "--pages", "-4"], ["components", "titles.py:Titles", "--pages", "-1"]]
)
def test_a_number_of_pages_is_one(site, tmp_path, args):
    done = crawler(*args, cwd=tmp_path)

    assert done.returncode == 2
    assert f"{args[-1]} is not in the range" in done.stderr
    assert done.stderr.count("\n") == 1


def test_one_first_url_may_be_given_as_an_argument(site, tmp_path):
    url = f"start_urls={site.url('/a')}"

    done = crawler("run", "titles.py:Titles", "-a", url, "-s", "delay=0", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["title"] == "A"


def test_fetch_and_links(site, tmp_path):
    body = crawler("fetch", site.url("/a"), cwd=tmp_path)
    head = crawler("fetch", site.url("/a"), "--headers", cwd=tmp_path)
    found = crawler("links", site.url("/"), "--json", cwd=tmp_path)
    broken = crawler("fetch", "http://127.0.0.1:1/", cwd=tmp_path)

    assert body.stdout == "<title>A</title>"
    assert head.stdout.startswith(f"200 {site.url('/a')}\n")
    assert json.loads(found.stdout) == [site.url("/a"), site.url("/gone")]
    whole = json.loads(crawler("fetch", site.url("/a"), "--json", cwd=tmp_path).stdout)
    assert (whole["url"], whole["status"]) == (site.url("/a"), 200)
    assert whole["text"] == "<title>A</title>"
    assert ["content-type", "text/html; charset=utf-8"] in whole["headers"]
    assert broken.returncode == 1
    assert broken.stderr.startswith("crawler: http://127.0.0.1:1/: connect: ")


def test_settings_are_explained(tmp_path):
    (tmp_path / "crawler.toml").write_text("delay = 2\n")

    one = crawler("settings", "delay", "--explain", "-s", "delay=3", cwd=tmp_path)
    everything = crawler("settings", "--json", cwd=tmp_path)
    unknown = crawler("settings", "dealy", cwd=tmp_path)

    assert one.stdout.startswith("delay = 3 (command line), over 2 (crawler.toml)")
    assert {"delay", "concurrency"} <= {row["name"] for row in json.loads(everything.stdout)}
    assert unknown.returncode == 2
    assert "did you mean 'delay'" in unknown.stderr
    told = " ".join(crawler("settings", "--help", cwd=tmp_path).stdout.split())
    assert f"`crawler crawl` sets depth to {Pages.max_depth}." in told


def test_components_are_shown_in_order_with_their_figures(site, tmp_path):
    (tmp_path / "with_mw.py").write_text(
        (tmp_path / "titles.py").read_text()
        + """
from crawler.middleware import Depth, Cookies
class Ordered(Titles):
    middlewares = [lambda: Depth(1)]
    download_middlewares = [Cookies]
"""
    )

    done = crawler(
        "components", "with_mw.py:Ordered", "--pages", "2", "-s", "delay=0", cwd=tmp_path
    )

    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["download", "middleware", "Cookies"]
    assert any(line.startswith("Depth.process_request: ") and "calls" in line for line in lines)
    told = crawler("components", "--help", cwd=tmp_path).stdout
    assert "how often it was called, how much it dropped" in " ".join(told.split())


def test_the_shell_has_the_page(site, tmp_path):
    done = subprocess.run(
        [*CRAWLER, "shell", site.url("/a")],
        cwd=tmp_path,
        input="print('title is', response.css('title::text').get())\n",
        capture_output=True,
        text=True,
        timeout=50,
    )

    assert "title is A" in done.stdout


def test_version_and_help(tmp_path):
    assert crawler("version", cwd=tmp_path).stdout.strip() == "0.1.0"
    assert json.loads(crawler("version", "--json", cwd=tmp_path).stdout) == {"version": "0.1.0"}
    help_ = crawler("--help", cwd=tmp_path).stdout
    for code in ("0", "1", "2", "3", "4", "5", "6", "130"):
        assert re.search(rf"^ +{code} +\w", help_, re.MULTILINE), code
    for command in ("crawl", "run", "fetch", "links", "shell", "demo", "settings", "components"):
        assert f"  {command} " in help_


def test_an_archive_is_replayed_without_the_site_and_differences_are_shown(site, tmp_path):
    args = ("run", "titles.py:Titles", "-s", "delay=0", "--warc", "a.warc.gz", "-O", "items.jsonl")
    crawler(*args, cwd=tmp_path)
    asked = len(site.requests)

    again = crawler(
        "replay", "a.warc.gz", "titles.py:Titles", "--diff", "items.jsonl", cwd=tmp_path
    )
    (tmp_path / "items.jsonl").write_text('{"title": "Old", "tag": null}\n')
    changed = crawler(
        "replay", "a.warc.gz", "titles.py:Titles", "--diff", "items.jsonl", cwd=tmp_path
    )

    args = ("replay", "a.warc.gz", "titles.py:Titles", "--diff", "items.jsonl", "--json")
    told = json.loads(crawler(*args, cwd=tmp_path).stdout)

    assert told["gone"] == [{"title": "Old", "tag": None}]
    assert {"title": "Home", "tag": None} in told["new"]
    assert again.returncode == 0, again.stderr
    assert again.stdout == "no difference\n"
    assert changed.returncode == 5
    assert '- {"tag": null, "title": "Old"}' in changed.stdout
    assert '+ {"tag": null, "title": "Home"}' in changed.stdout
    assert len(site.requests) == asked


def test_a_closed_pipe_ends_the_crawl_quietly(site, tmp_path):
    (tmp_path / "many.py").write_text(
        f"""
from crawler import Spider
class Many(Spider):
    start_urls = [{site.url()!r}]
    def parse(self, response):
        for n in range(2_000):
            yield {{"n": n, "padding": "x" * 200}}
"""
    )

    done = subprocess.run(
        f"{sys.executable} -m crawler run many.py -s delay=0 | head -n 3",
        shell=True,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=50,
    )

    assert len(done.stdout.splitlines()) == 3
    assert "Traceback" not in done.stderr


def test_what_nobody_reads_is_written_the_next_time(tmp_path):
    """The reader of the pipe goes away; the page that was being written is not lost."""
    gone = Event()

    def page(request):
        n = int(request.url.rpartition("/")[2])
        assert n < 2 or gone.wait(30)
        return f'<title>{n}</title><a href="/{n + 1}">next</a>'

    with LoopbackSite({f"/{n}": page for n in range(8)}) as site:
        text = SPIDER.format().replace("start_urls = []", f"start_urls = [{site.url('/0')!r}]")
        (tmp_path / "titles.py").write_text(text)
        args = ["run", "titles.py:Titles", "-s", "delay=0"]
        with subprocess.Popen([*CRAWLER, *args], cwd=tmp_path, stdout=subprocess.PIPE) as first:
            lines = [first.stdout.readline() for _ in range(2)]
            first.stdout.close()
            gone.set()
            first.wait(timeout=50)
        second = crawler(*args, cwd=tmp_path)

    titles = sorted(json.loads(line)["title"] for line in [*lines, *second.stdout.splitlines()])
    assert titles == [str(n) for n in range(8)], second.stderr
