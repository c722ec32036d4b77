"""What the check of an archive finds."""

import json

import pytest

from crawler import crawl
from crawler.bench.kill.archive_check import exchanges_lost_and_doubled, replayed
from crawler.bench.kill.killed_crawl import ARCHIVE, SETTINGS
from crawler.bench.kill.output_check import row_of
from crawler.bench.kill.slow_site import AWAY, HOME, SlowSite
from crawler.feed.warc.reader import records
from crawler.job.directory import Job
from crawler.spider import PageSpider

from ...cli.conftest import crawler


@pytest.fixture(scope="module")
def job(tmp_path_factory):
    """A job that was not killed: its directory, its URL, its records, its archive."""
    folder = tmp_path_factory.mktemp("job")
    with SlowSite(pages=40, delay=0).served() as site, Job(folder) as job:
        job.open_archive(str(folder / ARCHIVE))
        result = crawl(PageSpider(start_urls=[site.url()]), job=job, **SETTINGS)
    return folder, site.url(), result.items, (folder / ARCHIVE).read_bytes()


@pytest.fixture
def folder(job):
    folder, *_, archive = job
    yield folder
    (folder / ARCHIVE).write_bytes(archive)


def pieces(folder):
    content = (folder / ARCHIVE).read_bytes()
    return [(found.fields, content[found.start : found.end]) for found in records(content)]


def write(folder, found):
    (folder / ARCHIVE).write_bytes(b"".join(piece for _, piece in found))


def is_response_of(fields, path):
    return fields["warc-type"] == "response" and fields["warc-target-uri"].endswith(path)


def stable(items):
    return sorted(map(row_of, items))


def test_the_archive_of_a_crawl_is_complete_and_gives_its_records(job):
    folder, url, items, _ = job

    assert exchanges_lost_and_doubled(folder) == (0, 0)
    assert stable(replayed(folder, url)) == stable(items)


SPIDER = """
from crawler.spider import PageSpider

class Pages(PageSpider):
    start_urls = ["%s"]
"""


def test_the_command_gets_the_same_records_from_it(job, tmp_path):
    folder, url, items, _ = job
    (tmp_path / "pages.py").write_text(SPIDER % url)
    settings = ("-s", "robots=true", "-s", "depth=none", "-s", f"domains={HOME},{AWAY}")

    done = crawler("replay", str(folder / ARCHIVE), "pages.py", *settings, cwd=tmp_path)

    assert (done.returncode, done.stderr) == (0, "")
    assert stable(map(json.loads, done.stdout.splitlines())) == stable(items)


@pytest.mark.parametrize(
    "path", ["/page/5", "/moved/1", "/away/2", "/page/3", "/broken/7", "/robots.txt", "/copy/34"]
)
def test_an_exchange_is_missed_and_one_too_many_is_seen(folder, path):
    found = pieces(folder)
    missing = next(one for one in found if is_response_of(one[0], path))

    write(folder, [one for one in found if one is not missing])
    assert exchanges_lost_and_doubled(folder) == (1, 0)

    write(folder, [*found, missing])
    assert exchanges_lost_and_doubled(folder) == (0, 1)


def test_an_archive_without_a_redirect_cannot_be_replayed(job, folder):
    write(folder, [one for one in pieces(folder) if not is_response_of(one[0], "/moved/1")])

    with pytest.raises(ValueError, match="not_archived"):
        replayed(folder, job[1])
