"""What happened to a URL, and why."""

import json

import pytest

from crawler.data import Link
from crawler.frontier import Frontier, Scope, SqliteJournal
from crawler.testing import LoopbackSite

from ..conftest import QUICK, crawler


@pytest.fixture
def three_jobs(linked, tmp_path):
    for name in "abc":
        crawler("crawl", linked.url("/"), *QUICK, "--job", f"crawls/{name}", cwd=tmp_path)
    for left in ("state.db-wal", "state.db-shm"):
        (tmp_path / "crawls/b" / left).unlink(missing_ok=True)
    return tmp_path


def test_a_damaged_job_is_reported_and_the_others_are_searched(linked, three_jobs):
    (three_jobs / "crawls/b/state.db").write_text("x")

    shown = crawler("why", linked.url("/0"), cwd=three_jobs)
    as_json = crawler("why", linked.url("/0"), "--json", cwd=three_jobs)

    assert shown.returncode == as_json.returncode == 1
    assert "(in crawls/a)" in shown.stdout
    assert "(in crawls/c)" in shown.stdout
    assert shown.stderr.startswith("crawler: crawls/b/state.db cannot be read")
    a, b, c = map(json.loads, as_json.stdout.splitlines())
    assert (a["status"], b.keys(), c["status"]) == ("done", {"job", "error"}, "done")


def test_why_prints_the_history_of_a_url(linked, tmp_path):
    crawler("crawl", linked.url("/"), *QUICK, cwd=tmp_path)

    page = crawler("why", linked.url("/0"), cwd=tmp_path)
    away = crawler("why", "http://elsewhere.test/", cwd=tmp_path)
    sent = crawler("why", linked.url("/moved"), "--json", cwd=tmp_path)
    unknown = crawler("why", "http://nowhere.test/", cwd=tmp_path)

    assert f"found on {linked.url('/')}, at depth 1" in page.stdout
    assert "answered 200" in page.stdout
    assert page.stdout.rstrip().endswith("done")
    assert "turned away (domain): its domain is not among" in away.stdout
    assert json.loads(sent.stdout)["redirects"] == [linked.url("/3")]
    assert (unknown.returncode, unknown.stdout) == (1, "")
    assert "no job has met http://nowhere.test/; the jobs are those below" in unknown.stderr


def test_why_says_that_links_of_other_schemes_are_only_counted(tmp_path):
    with LoopbackSite({"/": "<a href=mailto:me@site.test>mail</a>"}) as site:
        report = crawler("crawl", site.url("/"), *QUICK, "--job", "crawls/mail", cwd=tmp_path)
    mail = crawler("why", "mailto:me@site.test", cwd=tmp_path)

    assert "scheme: mailto:me@site.test" in report.stdout
    assert mail.returncode == 1
    left_out = "crawls/mail has left out 1 link unrecorded, maybe this one (scheme): only http"
    assert left_out in mail.stderr


def test_why_says_that_a_url_may_be_among_those_a_page_has_too_many_of(linked, tmp_path):
    limit = ("-s", "max_links_per_page=2")
    crawler("crawl", linked.url("/"), *QUICK, *limit, "--job", "crawls/few", cwd=tmp_path)

    report = crawler("report", "crawls/few", cwd=tmp_path)
    unknown = crawler("why", linked.url("/no-such-page"), cwd=tmp_path)

    assert f"link_limit: {linked.url()}" in report.stdout
    left_out = "crawls/few has left out 1 link unrecorded, maybe this one (link_limit): its page"
    assert left_out in unknown.stderr
    assert "(setting: max_links_per_page)" in unknown.stderr


def test_why_tells_where_a_page_was_found_nearer(tmp_path):
    start = "http://site.test/"
    journal = SqliteJournal(tmp_path / "state.db")
    frontier = Frontier(Scope(["site.test"], max_depth=None), journal=journal)
    frontier.admit(Link(f"{start}x", 3, f"{start}b"))
    frontier.admit(Link(f"{start}x", 1, start))
    frontier.close()
    journal.close()

    shown = crawler("why", f"{start}x", "--job", ".", cwd=tmp_path)

    found, again = shown.stdout.splitlines()[1:3]
    assert found.endswith(f"found on {start}b, at depth 3")
    assert again.strip() == f"found again on {start}, at depth 1"
