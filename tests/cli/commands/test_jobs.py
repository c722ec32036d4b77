"""The commands work in job directories: the same one again goes on."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from itertools import count

import pytest
from gevent.event import Event

from crawler.testing import LoopbackSite, Reply

from ..conftest import crawler

CRAWLER = [sys.executable, "-m", "crawler"]
QUICK = ("-s", "delay=0", "-s", "robots=false", "--depth", "9")


def job_of(site):
    return f"crawls/127.0.0.1_{site.port}"


def links(*names):
    return "<title>t</title>" + "".join(f'<a href="{name}">x</a>' for name in names)


@pytest.fixture
def site():
    pages = {f"/{n}": links(f"/{n + 1}", "/") for n in range(20)}
    pages |= {"/": links("/0", "http://elsewhere.test/", "/moved"), "/20": links()}
    pages |= {"/moved": Reply(301, {"location": "/3"})}
    with LoopbackSite(pages) as site:
        yield site


def records(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_the_same_command_again_goes_on(site, tmp_path):
    command = ("crawl", site.url("/"), *QUICK)
    first = crawler(*command, "--max-pages", "5", cwd=tmp_path)
    second = crawler(*command, cwd=tmp_path)
    fetched = len(site.requests)
    third = crawler(*command, cwd=tmp_path)

    assert (first.returncode, second.returncode, third.returncode) == (0, 0, 0), second.stderr
    assert "going on" not in first.stderr
    assert f"going on with {job_of(site)}: 5 done" in second.stderr
    assert "has nothing left to do" in third.stderr
    assert len(site.requests) == fetched
    urls = [record["url"] for record in records(tmp_path / job_of(site) / "pages.jsonl")]
    assert len(urls) == len(set(urls)) == 13


def test_fresh_starts_over(site, tmp_path):
    command = ("crawl", site.url("/"), *QUICK, "-O", "pages.jsonl")
    crawler(*command, cwd=tmp_path)
    fetched = len(site.requests)

    again = crawler(*command, "--fresh", cwd=tmp_path)

    assert again.returncode == 0, again.stderr
    assert len(site.requests) == 2 * fetched
    assert len(records(tmp_path / "pages.jsonl")) == 13


def test_fresh_asks_first_on_a_terminal(site, tmp_path, terminal):
    command = ("crawl", site.url("/"), *QUICK)
    crawler(*command, cwd=tmp_path)
    fetched = len(site.requests)

    shown = terminal(*command, "--fresh")
    shown.read_until("start over")
    shown.press(b"n\r")

    assert shown.wait() != 0
    assert len(site.requests) == fetched


def test_a_job_goes_on_only_with_the_files_it_has_written(site, tmp_path):
    """Another file would lack what was written before, and a finished job would write nothing."""
    command = ("crawl", site.url("/"), *QUICK, "--job", "a")
    crawler(*command, "-O", "one.jsonl", cwd=tmp_path)
    (tmp_path / "two.jsonl").write_text("precious\n")

    other = crawler(*command, "-O", "two.jsonl", cwd=tmp_path)
    none = crawler(*command, cwd=tmp_path)
    same = crawler(*command, "-O", "one.jsonl", cwd=tmp_path)

    assert (other.returncode, none.returncode, same.returncode) == (6, 6, 0)
    assert "one.jsonl until now, and" in other.stderr
    assert "start over with --fresh" in none.stderr
    assert (tmp_path / "two.jsonl").read_text() == "precious\n"
    assert len(records(tmp_path / "one.jsonl")) == 13


def test_what_has_changed_since_is_told(site, tmp_path):
    crawler("crawl", site.url("/"), "-s", "delay=0", "--depth", "1", cwd=tmp_path)

    deeper = crawler("crawl", site.url("/"), "-s", "delay=0", "--depth", "2", cwd=tmp_path)

    assert f"{job_of(site)}: depth was 1, and is 2 now" in deeper.stderr
    urls = [record["url"] for record in records(tmp_path / job_of(site) / "pages.jsonl")]
    assert site.url("/1") in urls
    assert len(urls) == len(set(urls))


def test_the_job_of_another_spider_is_refused(site, tmp_path):
    spider = f"from crawler import Spider\nclass {{}}(Spider):\n    start_urls = [{site.url()!r}]\n"
    spider += "    def parse(self, response):\n        yield {{'n': 1}}\n"
    for name in ("A", "B"):
        (tmp_path / f"{name}.py").write_text(spider.format(name))
    crawler("run", "A.py", "--job", "one", cwd=tmp_path)

    done = crawler("run", "B.py", "--job", "one", cwd=tmp_path)

    assert done.returncode == 6
    assert "one is a job of the spider 'a', not of 'b'" in done.stderr


@pytest.fixture
def held():
    """A site of 121 pages that answers ten requests, and the others when `release` is set."""
    release, asked = Event(), count(1)

    def page(request):
        n = int(request.url.rpartition("/")[2])
        assert next(asked) <= 10 or release.wait(30)
        return links(*(f"/{n * 3 + k}" for k in (1, 2, 3))) if n < 40 else ""

    with LoopbackSite({f"/{n}": page for n in range(121)}) as site:
        site.release = release
        yield site
        release.set()


def test_sigterm_leaves_a_job_that_can_be_gone_on_with(held, tmp_path):
    command = ("crawl", held.url("/0"), *QUICK)
    process = subprocess.Popen(
        [*CRAWLER, *command], cwd=tmp_path, stderr=subprocess.PIPE, text=True
    )
    wait_for(lambda: len(held.requests) > 10)
    process.send_signal(signal.SIGTERM)
    held.release.set()
    _, told = process.communicate(timeout=30)
    assert process.returncode == 3, told
    assert re.search(r"stopped: \d+ pages are left; the same command goes on", told)

    done = crawler(*command, cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    urls = [record["url"] for record in records(tmp_path / job_of(held) / "pages.jsonl")]
    assert len(urls) == len(set(urls)) == 121
    paths = [hit.path for hit in held.requests]
    assert paths.count("/0") == 1


def wait_for(condition):
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_jobs_lists_them(site, tmp_path):
    crawler("crawl", site.url("/"), *QUICK, "--max-pages", "3", cwd=tmp_path)

    shown = crawler("jobs", cwd=tmp_path)
    [told] = map(json.loads, crawler("jobs", "--json", cwd=tmp_path).stdout.splitlines())

    assert re.match(r"crawls/127\.0\.0\.1_\d+ +finished +3 done", shown.stdout), shown.stderr
    assert (told["job"], told["done"], told["spider"]) == (job_of(site), 3, "pages")


@pytest.fixture
def three_jobs(site, tmp_path):
    for name in "abc":
        crawler("crawl", site.url("/"), *QUICK, "--job", f"crawls/{name}", cwd=tmp_path)
    for left in ("state.db-wal", "state.db-shm"):
        (tmp_path / "crawls/b" / left).unlink(missing_ok=True)
    return tmp_path


@pytest.mark.parametrize("damage", [b"x\n", b"", bytes(5000)])
def test_a_damaged_job_is_told_of_and_the_others_are_listed(three_jobs, damage):
    (three_jobs / "crawls/b/state.db").write_bytes(damage)

    shown = crawler("jobs", cwd=three_jobs)
    as_json = crawler("jobs", "--json", cwd=three_jobs)

    assert shown.returncode == as_json.returncode == 1
    assert shown.stderr == as_json.stderr == ""
    lines = shown.stdout.splitlines()
    assert [line.split()[:2] for line in lines] == [
        ["crawls/a", "finished"],
        ["crawls/b", "unreadable"],
        ["crawls/c", "finished"],
    ]
    assert "crawls/b/state.db cannot be read: " in lines[1]
    a, b, c = map(json.loads, as_json.stdout.splitlines())
    assert a["done"] == c["done"] == 13
    assert b.keys() == {"job", "error"}
    assert b["job"] == "crawls/b"


def test_a_damaged_job_does_not_keep_the_others_from_telling_why(site, three_jobs):
    (three_jobs / "crawls/b/state.db").write_text("x")

    shown = crawler("why", site.url("/0"), cwd=three_jobs)
    as_json = crawler("why", site.url("/0"), "--json", cwd=three_jobs)

    assert shown.returncode == as_json.returncode == 1
    assert "(in crawls/a)" in shown.stdout
    assert "(in crawls/c)" in shown.stdout
    assert shown.stderr.startswith("crawler: crawls/b/state.db cannot be read")
    a, b, c = map(json.loads, as_json.stdout.splitlines())
    assert (a["status"], b.keys(), c["status"]) == ("done", {"job", "error"}, "done")


def test_where_there_are_no_jobs_that_is_said(tmp_path):
    (tmp_path / "empty").mkdir()

    nothing = crawler("jobs", cwd=tmp_path)
    empty = crawler("jobs", "empty", cwd=tmp_path)
    nope = crawler("jobs", "nope", cwd=tmp_path)

    assert (nothing.returncode, nothing.stdout) == (0, "")
    assert nothing.stderr == "crawler: there is no job below 'crawls'\n"
    assert (empty.returncode, empty.stderr) == (0, "crawler: there is no job below 'empty'\n")
    assert nope.returncode == 2
    assert nope.stderr.startswith("crawler: there is no directory 'nope' (")


def test_a_bare_name_is_a_job_below_crawls(site, tmp_path):
    crawler("crawl", site.url("/"), *QUICK, "--job", "crawls/mine", cwd=tmp_path)
    (tmp_path / "mine").mkdir()

    urls = crawler("urls", "mine", cwd=tmp_path)
    report = crawler("report", "mine", cwd=tmp_path)
    why = crawler("why", site.url("/0"), "--job", "mine", cwd=tmp_path)

    assert len(urls.stdout.splitlines()) == 15, urls.stderr
    assert "13 done" in report.stdout
    assert "(in crawls/mine)" in why.stdout


def test_a_job_here_goes_before_one_below_crawls(site, tmp_path):
    crawler("crawl", site.url("/"), *QUICK, "--job", "crawls/mine", cwd=tmp_path)
    crawler("crawl", site.url("/20"), *QUICK, "--job", "mine", cwd=tmp_path)

    urls = crawler("urls", "mine", cwd=tmp_path)

    assert urls.stdout.split() == ["done", site.url("/20")]


def test_urls_tells_each_outcome_once(site, tmp_path):
    crawler("crawl", site.url("/"), *QUICK, "--job", "here", cwd=tmp_path)

    lines = crawler("urls", "here", cwd=tmp_path).stdout.splitlines()
    away = crawler("urls", "here", "--outcome", "turned_away", "--json", cwd=tmp_path).stdout
    moved = f"{site.url('/moved')} -> {site.url('/3')}"

    assert len(lines) == len(set(lines)) == 15
    assert sum(line.startswith("done ") for line in lines) == 13
    assert any(line.endswith(moved) for line in lines), lines
    told = {story["url"]: story["reason"] for story in map(json.loads, away.splitlines())}
    assert told["http://elsewhere.test/"] == "domain"


def test_why_tells_the_story_of_a_url(site, tmp_path):
    crawler("crawl", site.url("/"), *QUICK, cwd=tmp_path)

    page = crawler("why", site.url("/0"), cwd=tmp_path)
    away = crawler("why", "http://elsewhere.test/", cwd=tmp_path)
    sent = crawler("why", site.url("/moved"), "--json", cwd=tmp_path)
    unknown = crawler("why", "http://nowhere.test/", cwd=tmp_path)

    assert f"found on {site.url('/')}, at depth 1" in page.stdout
    assert "answered 200" in page.stdout
    assert page.stdout.rstrip().endswith("done")
    assert "turned away (domain): its domain is not among" in away.stdout
    assert json.loads(sent.stdout)["redirects"] == [site.url("/3")]
    assert (unknown.returncode, unknown.stdout) == (1, "")
    assert "no job has met http://nowhere.test/" in unknown.stderr


def test_report_prints_the_final_report_again(site, tmp_path):
    done = crawler("crawl", site.url("/"), *QUICK, cwd=tmp_path)

    again = crawler("report", cwd=tmp_path)
    told = crawler("report", job_of(site), "--json", cwd=tmp_path)

    assert again.stdout == done.stdout
    assert json.loads(told.stdout)["urls"]["done"] == 13


def test_report_of_a_job_that_was_killed(held, tmp_path):
    process = subprocess.Popen(
        [*CRAWLER, "crawl", held.url("/0"), *QUICK], cwd=tmp_path, stderr=subprocess.DEVNULL
    )
    wait_for(lambda: len(held.requests) > 10)
    process.kill()
    process.wait(timeout=10)

    shown = crawler("report", cwd=tmp_path)

    assert re.search(r"pages +\d+ done, 0 failed, \d+ left", shown.stdout), shown.stderr
    assert "the same command goes on" in shown.stdout


def test_report_of_a_job_that_is_running_says_so(site, tmp_path):
    from crawler.job.directory import Job

    crawler("crawl", site.url("/"), *QUICK, "--job", "mine", cwd=tmp_path)

    with Job(tmp_path / "mine"):
        shown = crawler("report", "mine", cwd=tmp_path)
        told = crawler("report", "mine", "--json", cwd=tmp_path)

    assert re.search(r"pages +13 done, 0 failed, 0 left", shown.stdout), shown.stderr
    assert re.search(rf"running +process {os.getpid()} on ", shown.stdout)
    assert "not by itself" not in shown.stdout
    assert json.loads(told.stdout)["user"].startswith(f"process {os.getpid()} on ")


@pytest.mark.parametrize("command", ["urls", "report"])
def test_what_is_no_job_is_told_in_one_line(tmp_path, command):
    (tmp_path / "empty").mkdir()

    done = crawler(command, "empty", cwd=tmp_path)

    assert done.returncode != 0
    assert done.stderr == "crawler: empty is no job directory: it has no state.db\n"


def test_a_job_in_use_is_told_in_one_line(site, tmp_path):
    from crawler.job.directory import Job

    with Job(tmp_path / "mine"):
        done = crawler("crawl", site.url("/"), "--job", "mine", cwd=tmp_path)

    assert done.returncode == 6
    assert re.fullmatch(r"crawler: mine is in use by process \d+ on .*\n", done.stderr)
