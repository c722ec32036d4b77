"""The view of a job from outside: its figures, and the story of every URL."""

import gevent
import pytest
from gevent.event import Event

from crawler import crawl, stream
from crawler.errors import JobError
from crawler.job.directory import Job
from crawler.job.view import JobView, directory_name, find_jobs
from crawler.spider import PageSpider
from crawler.testing import LoopbackSite, Reply, Site

from .conftest import QUICK, crawl_in, page


def test_the_story_of_each_url(tmp_path, site):
    crawl_in(tmp_path, site)

    with JobView(tmp_path) as view:
        stories = {story.url: story for story in view.urls()}
        [gone] = view.why(site.url("/gone"))
        counts = view.counts()

    assert len(stories) == 6
    assert (gone.status, gone.reason, gone.code, gone.depth) == ("done", "", 404, 1)
    assert gone.found_on == site.url("/")
    away = stories["http://elsewhere.test/"]
    assert (away.status, away.reason) == ("turned_away", "domain")
    assert counts.done == 5
    assert counts.turned_away == {"domain": 1, "seen": 2}


def test_a_url_turned_away_and_admitted_later_is_told_once(tmp_path):
    with LoopbackSite({"/": page("/deep"), "/deep": page("/x"), "/x": page()}) as site:
        with gevent.Timeout(120), Job(tmp_path) as job:
            crawl(PageSpider(start_urls=[site.url("/")]), job=job, **(QUICK | {"depth": 1}))
        with gevent.Timeout(120), Job(tmp_path) as job:
            crawl(PageSpider(start_urls=[site.url("/x")]), job=job, **(QUICK | {"depth": 1}))

        with JobView(tmp_path) as view:
            [story] = [story for story in view.urls() if story.url == site.url("/x")]
            assert (story.status, story.depth) == ("done", 0)


def test_redirects_are_told_under_the_url_that_was_asked_for(tmp_path):
    pages = {"/": page("/old"), "/old": Reply(301, {"location": "/new"}), "/new": page()}
    with LoopbackSite(pages) as site:
        crawl_in(tmp_path, site)
        with JobView(tmp_path) as view:
            [story] = view.why(site.url("/new"))

            assert (story.url, story.redirects) == (site.url("/old"), (site.url("/new"),))
            assert story.status == "done"


@pytest.fixture
def late():
    """A site where the page that is nearest to /x answers after /x has been found."""
    pages = Site(
        {
            "/": page("/late", "/a"),
            "/late": page("/x#part"),
            "/a": page("/b"),
            "/b": page("/x"),
            "/x": page(),
        }
    )
    fetched = Event()

    def fetch(request):
        if request.url.endswith("/late"):
            fetched.wait(120)
        if request.url.endswith("/x"):
            fetched.set()
        return pages(request)

    return fetch


def test_a_record_has_the_depth_of_its_fetch_and_a_story_the_smallest_too(tmp_path, late):
    start = "http://site.test/"
    with gevent.Timeout(120), Job(tmp_path) as job:
        result = crawl(PageSpider(start_urls=[start]), job=job, fetch=late, **QUICK)

    [record] = [item for item in result.items if item["url"] == f"{start}x"]
    with JobView(tmp_path) as view:
        [x], [a] = view.why(f"{start}x"), view.why(f"{start}a")
        counts = view.counts()
    assert record["depth"] == x.depth == 3
    assert (x.nearest_depth, x.nearest_on) == (2, f"{start}late")
    assert (a.nearest_depth, a.nearest_on) == (a.depth, a.found_on) == (1, start)
    assert counts.found_nearer == result.summary.urls.found_nearer == 1


def test_a_resumed_job_remembers_what_was_found_nearer(tmp_path, late):
    for _ in range(2):
        with gevent.Timeout(120), Job(tmp_path) as job:
            spider = PageSpider(start_urls=["http://site.test/"])
            result = crawl(spider, job=job, fetch=late, **QUICK)

    assert result.summary.urls.found_nearer == 1


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("example.org", "example.org"),
        ("../../etc/passwd", "etc_passwd"),
        ("..", "crawl"),
        ("a/b\0c", "a_b_c"),
        ("", "crawl"),
        ("x" * 300, "x" * 100),
        ("naïve spider", "na_ve_spider"),
    ],
)
def test_a_job_directory_is_always_below_its_root(text, name):
    assert directory_name(text) == name


def test_only_job_directories_are_found(tmp_path, site):
    crawl_in(tmp_path / "one", site)
    (tmp_path / "other").mkdir()

    assert find_jobs(tmp_path) == [tmp_path / "one"]
    with pytest.raises(JobError, match="is not a job directory"):
        JobView(tmp_path / "other")


def test_the_figures_of_a_running_job_are_those_of_its_last_commit(tmp_path, site):
    """They agree with the rows of that moment, which nobody has to count."""
    seen = []
    with gevent.Timeout(120), Job(tmp_path) as job:
        spider = PageSpider(start_urls=[site.url("/")])
        with stream(spider, job=job, **QUICK) as result:
            for _ in result:
                job.journal.commits.flush(anyway=True)
                with JobView(tmp_path) as view:
                    view._connection.execute("BEGIN")  # both are to be of one moment
                    counts, rows = view.counts(), view._counted()
                seen.append((counts.admitted, counts.done, counts.pending))
                assert seen[-1] == (rows.admitted, rows.done, rows.pending)
        counts = result.summary.urls

    assert len(set(seen)) > 1
    with JobView(tmp_path) as view:
        assert view.counts() == counts
        assert view.summary()["status"] == "stopped"
        assert view.summary()["urls"]["done"] == counts.done == 5
