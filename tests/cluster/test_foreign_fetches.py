"""A callback may fetch a page of any host, whichever scheduler has it."""

import gevent
import pytest

from crawler import Request, Spider, stream
from crawler.cluster.member import Member
from crawler.errors import DownloadError, Refusal
from crawler.testing import LoopbackSite, Reply, faults

from .joined import ends
from .tree_site import HOSTS, SETTINGS


@pytest.fixture
def site():
    """Every host has a page; the first one's callback fetches a part of each of the others."""
    pages = {"/": Reply(200, body="start"), "/part": Reply(200, body="part")}
    with LoopbackSite(pages, addresses=HOSTS) as site:
        yield site


def url(site, host, path):
    return f"http://{host}:{site.port}{path}"


class Parts(Spider):
    """Fetches the same *path* of all hosts in one callback."""

    accepted_domains = HOSTS

    def __init__(self, site, path, found):
        super().__init__()
        self.site, self.path, self.found = site, path, found
        self.start_urls = [url(site, HOSTS[0], "/")]

    def parse(self, response):
        for host in HOSTS[1:]:
            request = Request(url(self.site, host, self.path))
            try:
                self.found.append((host, self.fetch(request).text))
            except (Refusal, DownloadError) as error:
                self.found.append((host, type(error).__name__))
        yield {"page": response.url}


def crawl(server, record, site, path, schedulers=2):
    found, results = [], []
    for _ in range(schedulers):
        member = Member(server.url, record)
        result = stream(Parts(site, path, found), job=member, **SETTINGS, retries=1)
        gevent.spawn(list, result)
        results.append(result)
    for result in results:
        result.wait()
    return found


def test_parts_of_all_hosts_arrive_whoever_has_their_shards(server, client, record, site):
    found = crawl(server, record, site, "/part")

    assert found == [(host, "part") for host in HOSTS[1:]]
    assert client.hget(record.keys.job, "status") == b"finished"
    fetched = sorted(ends(client, record))
    assert fetched == sorted(
        [url(site, HOSTS[0], "/"), *(url(site, h, "/part") for h in HOSTS[1:])]
    )
    assert len(site.requests) == len(HOSTS)


def test_the_error_of_another_scheduler_is_raised_here(server, record, site):
    site.pages["/broken"] = faults.truncated()
    found = crawl(server, record, site, "/broken")

    assert {name for _, name in found} == {"DownloadError"}


def test_a_refusal_of_another_scheduler_is_raised_here(server, record, site):
    found = crawl(server, record, site, "/" + "a/" * 50)

    assert {name for _, name in found} == {"Refusal"}
