"""The site of the crawls that are killed."""

from collections import Counter

from crawler import crawl
from crawler.bench.kill.killed_crawl import SETTINGS
from crawler.bench.kill.slow_site import SlowSite, planned, recorded
from crawler.spider import PageSpider


def test_a_crawl_meets_every_kind_of_detour_and_error():
    with SlowSite(pages=60, delay=0).served() as site:
        result = crawl(PageSpider(start_urls=[site.url()]), **SETTINGS)

    hits = Counter(hit.path for hit in site.requests if not hit.path.startswith("/robots"))
    urls = {item["url"].partition("#")[0] for item in result.items}
    assert urls == {site.url(path) for path in recorded(site.pages)}
    assert len(result.items) == len(urls)
    assert {path: planned(path) for path in hits} == hits
    kinds = Counter(path.split("/")[1] for path in hits)
    assert kinds.keys() == {"", "page", "moved", "away", "copy", "missing", "broken"}
    assert result.summary.urls.refused.keys() == {"robots", "seen"}
    assert (result.summary.retried, result.errors) == (6 + 2 * 3, [])
