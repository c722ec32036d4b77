"""One crawl that is killed and continued."""

import random
import urllib.request
from contextlib import suppress
from urllib.error import HTTPError

from crawler.bench.kill.slow_site import SlowSite
from crawler.bench.kill.trial import Trial
from crawler.testing import LoopbackSite


def test_a_refetched_page_counts_for_the_process_that_had_requested_it(tmp_path):
    with LoopbackSite(dict.fromkeys(("/robots.txt", "/a", "/b", "/c"), "")) as site:
        trial = Trial(tmp_path, site, random.Random(0))
        for paths in (["/robots.txt", "/a", "/b"], ["/robots.txt", "/b"], ["/a", "/b", "/c", "/c"]):
            for path in paths:
                urllib.request.urlopen(site.url(path), timeout=120).close()
            trial.marks.append(len(site.requests))
        trial.marks.pop()

    assert trial.refetched_for() == [2, 1, 1]
    assert trial.refetched == 4


def test_requests_that_every_crawl_makes_are_not_refetches(tmp_path):
    site = SlowSite(pages=14, delay=0).served()
    with site:
        trial = Trial(tmp_path, site, random.Random(0))
        for path in (*["/page/3"] * 2, *["/page/13"] * 3, *["/broken/7"] * 3):
            with suppress(HTTPError):
                urllib.request.urlopen(site.url(path), timeout=120).close()
            trial.marks.append(len(site.requests))

    assert trial.refetched == sum(trial.refetched_for()) == 1
