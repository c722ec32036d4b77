import csv
import json
import re
import subprocess
import sys

import pytest
from gevent.event import Event

from crawler.testing import LoopbackSite

from ..conftest import CRAWLER, crawler, titles_spider


def test_run_writes_items_to_stdout_and_the_report_to_stderr(titles, tmp_path):
    done = crawler("run", "titles.py:Titles", "-a", "tag=x", "-s", "delay=0", cwd=tmp_path)

    assert done.returncode == 1, done.stderr
    items = [json.loads(line) for line in done.stdout.splitlines()]
    assert sorted(item["title"] for item in items) == ["A", "Home"]
    assert {item["tag"] for item in items} == {"x"}
    assert "http_404 1" in done.stderr
    assert re.search(r"^records +2 on stdout$", done.stderr, re.MULTILINE)


def test_run_writes_several_files_at_once(titles, tmp_path):
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
        (["titles.py"], "must name one Spider; found: titles.py:Titles or titles.py:Other"),
        (["titles.py:None"], "found: titles.py:Titles or titles.py:Other"),
        (["nothing.py"], "no such file: 'nothing.py'; SPIDER.py is a path, and `crawler list`"),
        (["titles"], "no such file: 'titles'; did you mean 'titles.py'?"),
        (["http://a.test/"], "no such file: 'http://a.test/'"),
        (["titles.py:Titles", "-s", "DOWNLOAD_DELAY=1"], "it is called 'delay' here"),
        (
            ["titles.py:Titles", "--max-pages", "3"],
            "'--max-pages'. It is a setting: -s max_pages=…",
        ),
        (["titles.py:Titles", "-s", "delya=1"], "did you mean 'delay'"),
        (["titles.py:Titles", "-s", "delay"], "-s needs NAME=VALUE, not 'delay'"),
        (["titles.py:Titles", "-O", "x.doc"], ".jsonl"),
        (["titles.py:Titles", "--fail-if", "bogus>1"], "not a condition such as 'failed>1%'"),
        (["titles.py:Titles", "--min-items", "-1"], "-1"),
    ],
)
def test_wrong_usage_is_an_error_of_one_line(titles, tmp_path, args, complaint):
    done = crawler("run", *args, cwd=tmp_path)

    assert done.returncode == 2
    assert complaint in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("x = 1", "found: none, and a spider is a subclass of crawler.Spider"),
        ("raise ModuleNotFoundError('no', name='scrapy')", "write `import crawler as scrapy`"),
        (
            "from crawler import Spider\nclass A(Spider):\n    def __init__(self, tag): pass",
            "A: missing a required argument: 'tag'; -a NAME=VALUE gives one",
        ),
        (
            "from crawler import Spider\nclass A(Spider):\n    def __init__(self): pass",
            "A: got an unexpected keyword argument 'n'; -a NAME=VALUE gives one",
        ),
    ],
)
def test_a_file_without_a_spider_that_can_be_made_is_an_error_of_one_line(
    tmp_path, text, complaint
):
    (tmp_path / "bad.py").write_text(text)

    done = crawler("run", "bad.py", *(["-a", "n=1"] if "self)" in text else []), cwd=tmp_path)

    assert done.returncode == 2
    assert complaint in done.stderr
    assert done.stderr.count("\n") == 1


def test_quality_gates_decide_the_exit_code_and_the_report(titles, tmp_path):
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


def test_a_start_url_can_be_given_as_an_argument(titles, tmp_path):
    url = f"start_urls={titles.url('/a')}"

    done = crawler("run", "titles.py:Titles", "-a", url, "-s", "delay=0", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["title"] == "A"


def test_a_closed_pipe_ends_the_crawl_quietly(titles, tmp_path):
    (tmp_path / "many.py").write_text(
        f"""
from crawler import Spider
class Many(Spider):
    start_urls = [{titles.url()!r}]
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
        timeout=120,
    )

    assert len(done.stdout.splitlines()) == 3
    assert "Traceback" not in done.stderr


def test_items_after_a_closed_pipe_are_written_by_the_next_run(tmp_path):
    """The reader of the pipe goes away; the page that was being written is not lost."""
    gone = Event()

    def page(request):
        n = int(request.url.rpartition("/")[2])
        assert n < 2 or gone.wait(120)
        return f'<title>{n}</title><a href="/{n + 1}">next</a>'

    with LoopbackSite({f"/{n}": page for n in range(8)}) as site:
        (tmp_path / "titles.py").write_text(titles_spider(site.url("/0")))
        args = ["run", "titles.py:Titles", "-s", "delay=0"]
        with subprocess.Popen([*CRAWLER, *args], cwd=tmp_path, stdout=subprocess.PIPE) as first:
            lines = [first.stdout.readline() for _ in range(2)]
            first.stdout.close()
            gone.set()
            first.wait(timeout=120)
        second = crawler(*args, cwd=tmp_path)

    titles = sorted(json.loads(line)["title"] for line in [*lines, *second.stdout.splitlines()])
    assert titles == [str(n) for n in range(8)], second.stderr


FAILING = """
from crawler import Spider

class Prices(Spider):
    start_urls = [{url!r}]

    def parse(self, response):
        yield from response.links()
        yield {{"price": {{}}["price"]}}
"""


@pytest.mark.parametrize("analyzers", [0, 1])
def test_errors_of_callbacks_are_shown_by_their_line(linked, tmp_path, analyzers):
    (tmp_path / "prices.py").write_text(FAILING.format(url=linked.url("/")))
    settings = (f"analyzers={analyzers}", "delay=0", "robots=no")
    options = ("--job", "crawls/p", *(f"-s{setting}" for setting in settings))

    run = crawler("run", "prices.py", *options, "-L", "info", cwd=tmp_path)
    report = crawler("report", "crawls/p", "-v", cwd=tmp_path)
    why = crawler("why", linked.url("/0"), cwd=tmp_path)

    line = "prices.py:9 KeyError: 'price'"
    assert f"{line}, on {linked.url('/')}" in run.stderr
    assert re.search(rf"errors at +{re.escape(line)} × \d+, first {linked.url('/')}", run.stderr)
    assert f"first {linked.url('/')}" in report.stdout
    assert "Traceback" in report.stdout
    assert f"attempt 1: {line}" in why.stdout
    assert "Traceback" in why.stdout
    assert re.search(
        rf"200  \d+ ms  \d+ bytes  depth 1  {linked.url('/0')}  found on {linked.url('/')}",
        run.stderr,
    )


def test_the_report_says_how_many_items_were_dropped_or_failed(titles, tmp_path):
    (tmp_path / "drop.py").write_text(
        f"""
from crawler import DropItem, Spider

def choose(item):
    if item["n"] == 1:
        raise DropItem("one")
    if item["n"] == 2:
        raise ValueError("two")
    return item

class Drop(Spider):
    start_urls = [{titles.url()!r}]
    pipelines = [choose]

    def parse(self, page):
        yield from ({{"n": n}} for n in range(5))
"""
    )

    done = crawler("run", "drop.py", "-O", "items.jsonl", cwd=tmp_path)

    assert re.search("^items +5 found, 1 dropped, 1 failed$", done.stdout, re.MULTILINE), (
        done.stdout
    )
    assert re.search("^records +3 in items.jsonl$", done.stdout, re.MULTILINE)
