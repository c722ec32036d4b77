"""No link can hide a page: two URLs with one fingerprint cannot be made by whoever does not know its key."""

import json
import logging
import sqlite3
from contextlib import closing

import pytest

from crawler import Job, Request, crawl
from crawler.frontier.admission.fingerprint import Fingerprint
from crawler.job.view import JobView
from crawler.middleware.spider.duplicates import Duplicates
from crawler.spider import PageSpider
from crawler.testing import Site

HOME = "http://site.test/"
#: Two URLs whose MurmurHash3 without a key is the same; such a pair takes a second to make.
VICTIM = f"{HOME}article-nvy8v7BdkobFDu_28vjOeHV_ooqeSLK3"
DECOY = f"{HOME}article-8p5HePikZ-NVLznLGKEssqugooqeSLK3"


@pytest.fixture
def site():
    """A site whose start page links to the decoy, and to a page that links to the victim."""
    return Site(
        {
            HOME: f'<a href="{DECOY}">x</a><a href="/more">x</a>',
            DECOY: "decoy",
            f"{HOME}more": f'<a href="{VICTIM}">x</a>',
            VICTIM: "victim",
        }
    )


def run(site, **options):
    options = {"depth": None, "delay": 0, "robots": False} | options
    result = crawl(PageSpider(start_urls=[HOME]), fetch=site, **options)
    return {item["url"] for item in result.items}


def test_the_two_urls_collide_without_a_key():
    mmh3 = Fingerprint("mmh3")

    assert mmh3.of(VICTIM) == mmh3.of(DECOY)


def test_a_url_made_to_collide_hides_no_page(site):
    assert run(site) == set(site.pages)


def test_nor_in_a_job_that_is_continued(site, tmp_path):
    run(site, job=tmp_path / "job", max_pages=2)
    run(site, job=tmp_path / "job")

    assert {request.url for request in site.requests} == set(site.pages)


def test_who_trusts_the_sites_may_choose_the_faster_fingerprint(site):
    assert run(site, fingerprint="mmh3") == set(site.pages) - {VICTIM}


def test_the_duplicates_middleware_is_not_deceived():
    middleware, spider = Duplicates(), PageSpider()
    middleware.open_spider(spider)

    passed = [
        middleware.process_request(Request(url), None, spider) is not None
        for url in (DECOY, VICTIM, VICTIM)
    ]

    assert passed == [True, True, False]


# -- the key of a job -----------------------------------------------------------------------------


def key_of(path):
    with closing(sqlite3.connect(path / "state.db")) as state:
        (fact,) = state.execute("SELECT value FROM facts WHERE name = 'fingerprint'").fetchone()
    return json.loads(fact)["key"]


def test_each_job_has_a_key_of_its_own_and_keeps_it(site, tmp_path):
    run(site, job=tmp_path / "a", max_pages=2)
    key = key_of(tmp_path / "a")
    run(site, job=tmp_path / "a")
    run(site, job=tmp_path / "b")

    assert key == key_of(tmp_path / "a") != key_of(tmp_path / "b")
    assert len(bytes.fromhex(key)) == 32


def test_why_finds_a_url_by_its_key_however_it_is_spelt(site, tmp_path):
    run(site, job=tmp_path / "job")

    with JobView(tmp_path / "job") as view:
        [story] = view.why(f"HTTP://SITE.test:80/x/../{VICTIM.removeprefix(HOME)}#part")

    assert (story.url, story.status) == (VICTIM, "done")


def test_the_key_is_in_the_state_and_nowhere_else(site, tmp_path, caplog, capfd):
    caplog.set_level(logging.DEBUG)
    path = tmp_path / "job"
    with Job(path) as job:
        job.open_feed(str(path / "pages.jsonl"))
        job.open_archive(str(path / "pages.warc.gz"))
        result = crawl(
            PageSpider(start_urls=[HOME]), job=job, fetch=site, depth=None, delay=0, robots=False
        )
    key = key_of(path)
    others = [file.read_bytes() for file in path.iterdir() if not file.name.startswith("state.db")]

    assert (path / "state.db").stat().st_mode & 0o077 == 0
    assert not any(key.encode() in content or bytes.fromhex(key) in content for content in others)
    assert key not in "".join((caplog.text, *capfd.readouterr(), str(result.summary)))
    assert key not in repr(Fingerprint("blake2b", bytes.fromhex(key)))
