"""The command line, as a user runs it: in a process of its own."""

import json
import re
import signal
import subprocess

import pytest

from crawler.testing import LoopbackSite, Reply

from ..conftest import CRAWLER, crawler, crawler_process


@pytest.fixture
def site():
    pages = {
        "/": '<title>Home</title><a href="/a">a</a> <a href="http://elsewhere.test/">b</a>',
        "/a": '<title> A\n page </title><a href="/b">b</a>',
        "/b": "<title>B</title>",
    }
    with LoopbackSite(pages) as site:
        yield site


def records(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_crawl_writes_a_record_for_each_page(site, tmp_path):
    done = crawler_process(
        "crawl", site.url(), "--depth", "2", "--delay", "0", "-o", "out/pages.jsonl", cwd=tmp_path
    )

    assert done.returncode == 0, done.stderr
    by_url = {page["url"]: page for page in records(tmp_path / "out/pages.jsonl")}
    assert by_url.keys() == {site.url("/"), site.url("/a"), site.url("/b")}
    page = by_url[site.url("/a")]
    assert page["title"] == "A page"
    assert page["depth"] == 1
    assert page["found_on"] == site.url("/")
    assert page["status"] == 200
    assert page["content_type"].startswith("text/html")
    assert "domain 1" in done.stdout


def test_the_default_output_is_named_after_the_host(site, tmp_path):
    crawler("crawl", site.url(), "--depth", "0", cwd=tmp_path)

    assert len(records(tmp_path / f"crawls/127.0.0.1_{site.port}/pages.jsonl")) == 1


def test_the_summary_as_json_is_all_that_goes_to_stdout(site, tmp_path):
    done = crawler_process("crawl", site.url(), "--delay", "0", "--json", cwd=tmp_path)

    summary = json.loads(done.stdout)
    assert summary["urls"]["done"] == 2
    assert summary["limited_by"].keys() == {"limit", "setting", "share"}
    assert "slowest_hosts" in summary
    assert summary["status"] == "stopped"


@pytest.mark.parametrize(
    ("args", "code", "complaint"),
    [
        (["crawl"], 2, "Missing argument 'URL...'"),
        (["crawl", "not a url"], 2, "cannot crawl 'not a url'"),
        (["crawl", "ftp://a.test/"], 2, "cannot crawl 'ftp://a.test/': a URL needs http://"),
        (["crawl", "http://a.test/", "--domain", "*.b.test"], 2, "b.test"),
        (
            ["crawl", "http://a.test/", "--depth", "-1"],
            2,
            "depth: expected a whole number, 0 or more, or none, not '-1'",
        ),
        (["crawl", "http://a.test/", "--depth", "far"], 2, "depth: expected"),
        (["fly"], 2, "no such command: 'fly'"),
        (["crawl", "quotes"], 2, "and a host; `crawler run quotes.py` runs a spider"),
        (["crwl"], 2, "no such command: 'crwl'; did you mean 'crawl'?"),
        (["runspider", "x.py"], 2, "no such command: 'runspider'; here it is `crawler run`"),
        (["startproject", "x"], 2, "here it is `crawler new project`"),
    ],
)
def test_wrong_usage_is_one_line_and_its_exit_code(tmp_path, args, code, complaint):
    done = crawler(*args, cwd=tmp_path)

    assert done.returncode == code
    assert complaint in done.stderr
    assert done.stderr.startswith("crawler: ")
    assert done.stderr.count("\n") == 1


def test_a_page_that_fails_makes_the_exit_code_1(tmp_path):
    with LoopbackSite(
        {"/": '<a href="/cut">x</a>', "/cut": Reply(200, {"Content-Encoding": "gzip"}, b"junk")}
    ) as site:
        done = crawler("crawl", site.url(), "--delay", "0", cwd=tmp_path)

    assert done.returncode == 1
    assert "bad_encoding 1" in done.stdout


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_finishes_the_requests_in_flight_and_exits_with_3(tmp_path, number):
    with _endless_site() as site:
        process = subprocess.Popen(
            [*CRAWLER, "crawl", site.url(), "--depth", "99"],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        while len(site.requests) < 5:
            _tick()
        process.send_signal(number)
        out, err = _communicate(process)

    assert process.returncode == 3, err
    assert "stopping: finishing the requests in flight" in err
    assert re.search(r"stopped: \d+ pages left", err)
    assert "pending" in out
    assert "Traceback" not in err


def _endless_site():
    class Everything(dict):
        def get(self, target, default=None):
            return lambda request: "".join(
                f'<a href="{request.url.rstrip("/")}/{n}">x</a>' for n in range(5)
            )

    return LoopbackSite(Everything({"/": "x"}))


def _tick():
    import gevent

    gevent.sleep(0.01)


def _communicate(process):
    import gevent

    with gevent.Timeout(120):
        while process.poll() is None:
            gevent.sleep(0.02)
    return process.communicate()


@pytest.mark.parametrize(
    ("option", "fetched"),
    [
        ([], 0),
        (["--retry-failed"], 1),
        (["--retry-failed=http_404"], 0),
        (["--retry-failed=connect"], 1),
        (["--retry-failed=connect,http_404"], 1),
    ],
)
def test_failed_pages_are_fetched_again_when_that_is_asked_for(tmp_path, option, fetched):
    args = ("crawl", "http://127.0.0.1:9/", "-s", "retries=1", "-s", "robots=no", "--json")
    crawler(*args, cwd=tmp_path)

    again = crawler(*args, *option, cwd=tmp_path)

    assert again.returncode == 1, again.stderr
    assert json.loads(again.stdout)["downloaders"][0]["called"] == fetched


def test_reports_say_how_to_fetch_the_failed_pages_again(tmp_path):
    run = ("crawl", "http://127.0.0.1:9/", "-s", "retries=1", "-s", "robots=no", "--job", "a-1")
    first = crawler(*run, cwd=tmp_path)
    report = crawler("report", "a-1", cwd=tmp_path)
    retried = crawler(*run, "--retry-failed=dns", cwd=tmp_path)
    unknown = crawler("retry", "a-1", cwd=tmp_path)

    hint = "to retry      the same command with --retry-failed fetches 1 failed page again"
    assert hint in first.stdout
    assert hint in report.stdout
    assert "a-1: no page has failed for dns; the reasons are connect 1" in retried.stderr
    assert "run the same command with --retry-failed" in unknown.stderr


def test_a_site_that_answers_only_with_errors_is_no_success(tmp_path):
    quick = ("--delay", "0", "-s", "retries=1", "-s", "politeness.throttle=0.01", "-O", "x.jsonl")
    with LoopbackSite({"/": Reply(500, body='<a href="/a">'), "/a": Reply(500)}) as site:
        run = ("crawl", site.url(), *quick)
        plain = crawler(*run, cwd=tmp_path)
        gated = crawler(*run, "--fresh", "--fail-if", "status:5xx>10%", cwd=tmp_path)

    assert plain.returncode == 1
    assert "status codes  500 2" in plain.stdout
    assert (
        "1 start page was answered with a status of 400 or more: the exit code is 1" in plain.stdout
    )
    assert gated.returncode == 5
    assert "quality gate not met: status:5xx>10%: status:5xx is 100%" in gated.stderr


def test_a_limit_that_cut_the_crawl_off_is_reported(site, tmp_path):
    run = ("crawl", site.url(), "--delay", "0", "--depth", "2", "--max-pages", "1")
    text = crawler(*run, "--job", "a", cwd=tmp_path)
    as_json = crawler(*run, "--job", "b", "--json", cwd=tmp_path)
    again = crawler("report", "a", cwd=tmp_path)

    assert text.returncode == as_json.returncode == 0
    ended = (
        "ended         page_limit: the crawl reached its limit of pages (setting: max_pages); set"
    )
    assert ended in text.stdout
    assert ended in again.stdout
    assert text.stdout.count("\n                page_limit: ") == 1
    assert json.loads(as_json.stdout)["reason"] == "page_limit"


def test_header_fields_go_with_every_request(site, tmp_path):
    options = ["-H", "Accept-Language: de, en", "-H", "X-Two: 2", "--depth", "1"]
    done = crawler("crawl", site.url(), *options, "-s", "delay=0", cwd=tmp_path)

    assert done.returncode == 0
    assert {hit.path for hit in site.requests} >= {"/", "/a", "/robots.txt"}
    for hit in site.requests:
        assert (hit.headers["accept-language"], hit.headers["x-two"]) == ("de, en", "2")


def test_a_login_for_every_host_is_refused(site, tmp_path):
    done = crawler("crawl", site.url(), "-H", "Authorization: s3cret", cwd=tmp_path)

    assert done.returncode == 2
    assert "headers: Authorization would go to every host: put user:password@" in done.stderr
    assert "s3cret" not in done.stderr
    assert site.requests == []
