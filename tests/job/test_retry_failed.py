"""Failed pages of a job are fetched again when that is asked for, and nothing else is."""

from crawler import Politeness, Spider, crawl
from crawler.errors import FetchError
from crawler.job.directory import Job
from crawler.job.view import JobView
from crawler.testing import Reply, Site

HOME = "http://site.test/"
BROKEN = {
    "/": '<a href="/good"><a href="/gone"><a href="/broken"><a href="/moved">',
    "/good": "good",
    "/gone": Reply(404),
    "/broken": Reply(500),
    "/moved": Reply(302, headers={"Location": "/target"}),
    "/target": Reply(500),
}
GIVES_UP_AT_ONCE = {"politeness": Politeness(delay=0, give_up_after=1, backoff=0)}
MENDED = BROKEN | {"/gone": "back", "/broken": "mended", "/target": "there"}


class Pages(Spider):
    start_urls = [HOME]
    settings = {"delay": 0, "retries": 1, "politeness.throttle": 0}

    def parse(self, page):
        yield {"path": page.url.removeprefix(HOME)}
        yield from page.links()


def crawl_job(path, site, *reasons, retry=True):
    """Crawl in the job at *path* and return the paths of the records that were added."""
    with Job(path) as job:
        if retry:
            job.retry_failed(*reasons)
        result = crawl(Pages(), fetch=site, job=job)
    return sorted(item["path"] for item in result.items)


def failures(path):
    with JobView(path) as view:
        return dict(view.counts().failed)


def test_only_what_failed_is_fetched_again(tmp_path):
    assert crawl_job(tmp_path, Site(BROKEN), retry=False) == ["", "good"]
    assert failures(tmp_path) == {"http_404": 1, "http_500": 2}
    site = Site(MENDED)

    assert crawl_job(tmp_path, site, retry=False) == []
    assert crawl_job(tmp_path, site) == ["broken", "gone", "target"]
    assert failures(tmp_path) == {}
    assert crawl_job(tmp_path, site) == []


def test_a_reason_chooses_among_the_failures(tmp_path):
    crawl_job(tmp_path, Site(BROKEN), retry=False)

    assert crawl_job(tmp_path, Site(MENDED), "http_404") == ["gone"]
    assert failures(tmp_path) == {"http_500": 2}


def test_what_fails_again_counts_once(tmp_path):
    crawl_job(tmp_path, Site(BROKEN), retry=False)

    assert crawl_job(tmp_path, Site(BROKEN)) == []
    assert failures(tmp_path) == {"http_404": 1, "http_500": 2}
    with JobView(tmp_path) as view:
        counts = view.counts()
    assert counts.admitted == 5
    assert counts.pending == 0


def nobody_listens(_request):
    raise FetchError("connect", "nobody listens")


def test_a_host_that_was_given_up_is_asked_again(tmp_path):
    with Job(tmp_path) as job:
        crawl(Pages(), fetch=nobody_listens, job=job, robots=False, **GIVES_UP_AT_ONCE)
    assert sum(failures(tmp_path).values()) == 1

    assert crawl_job(tmp_path, Site(MENDED)) == ["", "broken", "gone", "good", "target"]
