"""A callback may fetch a page of any host, whichever scheduler has it."""

import gevent
import pytest

from crawler import Request, Spider
from crawler.cluster.journal import OTHER_SHARD
from crawler.errors import DownloadError, Refusal
from crawler.testing import LoopbackSite, Reply, faults

from .joined import ends, join
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


def start(server, record, site, path, found):
    settings = {**SETTINGS, "retries": 1}
    return join(server, record, site, Parts(site, path, found), settings)


def crawl(server, record, site, path):
    found = []
    members = [start(server, record, site, path, found) for _ in range(2)]
    for _, result in members:
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


def test_a_question_is_put_again_if_the_shard_was_given_away(server, record, site, monkeypatch):
    found, refusing = [], []
    members = [start(server, record, site, "/part", found) for _ in range(2)]
    for member, _ in members:
        refusing.append(refuse_first(member._foreign, monkeypatch))
    for _, result in members:
        result.wait()

    assert found == [(host, "part") for host in HOSTS[1:]]
    assert [list(requests) for requests in refusing] == [[], []]


def refuse_first(foreign, monkeypatch):
    """Let a scheduler give a shard away whenever it begins to fetch for the first time."""
    fetch, left = foreign._fetch, [OTHER_SHARD]

    def fetch_or_refuse(request):
        if left:
            raise Refusal(left.pop(), request.url)
        return fetch(request)

    monkeypatch.setattr(foreign, "_fetch", fetch_or_refuse)
    return left


class OwnPart(Spider):
    """Fetches another page of its host, while the shard of that is given back."""

    accepted_domains = HOSTS

    def parse(self, response):
        self.member.held.drain(0)
        yield {"part": self.fetch(response.url + "part").text}


def test_a_shard_is_given_back_only_when_its_callbacks_have_got_what_they_wait_for(
    server, client, record, site
):
    spider = OwnPart(start_urls=[url(site, HOSTS[0], "/")])
    spider.member, result = join(server, record, site, spider)
    result.wait()

    assert [hit.path for hit in site.requests] == ["/", "/part"]
    assert client.hget(record.keys.job, "status") == b"finished"


class LostPart(Spider):
    """Fetches a page of a shard that is given away before the page is taken."""

    accepted_domains = HOSTS

    def parse(self, response):
        of_host = self.member._map.of_host
        other = next(host for host in HOSTS if of_host(host) != of_host(HOSTS[0]))
        shard = self.member.held.active[of_host(other)]
        shard.frontier.pause(other)
        gevent.spawn(self.lose, shard)
        yield {"part": self.fetch(url(self.site, other, "/part")).text}

    def lose(self, shard):
        while not len(shard.journal.awaited):
            gevent.sleep(0.005)
        self.member.held._give_back(shard)


def test_a_callback_whose_page_waits_in_a_shard_that_is_lost_asks_its_next_holder(
    server, client, record, site
):
    spider = LostPart(start_urls=[url(site, HOSTS[0], "/")])
    spider.site = site
    spider.member, result = join(server, record, site, spider)
    result.wait()

    assert [hit.path for hit in site.requests] == ["/", "/part"]
    assert client.hget(record.keys.job, "status") == b"finished"
