"""A program works on a job of a cluster, and collects its records."""

import json
import subprocess
import sys

import gevent
import pytest

from crawler.cluster import collect, crawl
from crawler.errors import ClusterError
from crawler.spider import PageSpider

from .joined import PAGES
from .tree_site import SETTINGS


def test_programs_create_one_job_work_on_it_and_collect_each_record_once(server, site, tmp_path):
    def work():
        spider = PageSpider(start_urls=[site.first()])
        return crawl(spider, server.url, "pages", shards=4, ttl=600.0, **SETTINGS)

    programs = [gevent.spawn(work) for _ in range(2)]
    results = [program.get() for program in programs]
    outputs = [str(tmp_path / "pages.jsonl")]
    counts = collect(server.url, "pages", tmp_path / "job", outputs)

    assert [result.reason for result in results] == ["finished"] * 2
    assert sum(len(result.items) for result in results) == PAGES
    lines = (tmp_path / "pages.jsonl").read_text().splitlines()
    assert len(lines) == len({json.loads(line)["url"] for line in lines}) == PAGES
    assert counts.done == PAGES


def test_a_program_with_another_setting_is_refused_by_name(server, site):
    spider = PageSpider(start_urls=[site.first()])
    crawl(spider, server.url, "pages", shards=1, max_pages=1, **SETTINGS)

    with pytest.raises(ClusterError, match=r"the setting max_pages: 1 in the job, 2 here"):
        crawl(spider, server.url, "pages", max_pages=2, **SETTINGS)
    with pytest.raises(ClusterError, match="bandwidth"):
        crawl(spider, server.url, "other", bandwidth=1000, **SETTINGS)


def test_a_program_without_the_patches_of_gevent_is_refused():
    code = "from crawler.cluster import collect; collect('redis://127.0.0.1:9', 'pages', 'x')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)

    assert "monkey.patch_all()" in done.stderr
