"""Several schedulers work on one job."""

import gevent
import pytest

from crawler import stream
from crawler.cluster.blob import unpack
from crawler.cluster.job_record import control_job, create_job
from crawler.cluster.member import Member
from crawler.spider import PageSpider

from .tree_site import SETTINGS, tree_site

PAGES = 80


@pytest.fixture
def site():
    with tree_site(PAGES) as site:
        yield site


@pytest.fixture
def record(server):
    return create_job(server.url, "job", {}, shards=4, ttl=1.0)


def join(server, record, site):
    member = Member(server.url, record)
    result = stream(PageSpider(start_urls=[site.first()]), job=member, **SETTINGS)
    gevent.spawn(list, result)
    return member, result


def ends(client, record):
    """The URL of every end in the log, and how often it is there."""
    found = []
    for _, fields in client.xrange(record.keys.log):
        for name, blob in fields.items():
            if name != b"call":
                found += [request["url"] for request, *_ in unpack(blob)]
    return found


def is_whole(client, record, site):
    found = ends(client, record)
    assert len(found) == len(set(found)) == PAGES
    assert client.hget(record.keys.job, "status") == b"finished"


def test_two_schedulers_finish_a_job_together_and_nothing_is_there_twice(
    server, client, record, site
):
    members = [join(server, record, site) for _ in range(2)]
    for _, result in members:
        result.wait()

    is_whole(client, record, site)
    assert len(site.requests) == PAGES + len(range(5, PAGES, 5))
    assert sum(result.summary.urls.done for _, result in members) == PAGES
    assert [result.reason for _, result in members] == ["finished"] * 2
    held = [client.hget(lease, "token") for lease in record.keys.leases]
    assert set(held) == {b""}


def test_a_scheduler_that_leaves_gives_its_shards_to_the_other(server, client, record, site):
    first, leaving = join(server, record, site)
    while len(site.requests) < PAGES // 4:
        gevent.sleep(0.005)
    _, staying = join(server, record, site)
    leaving.stop()
    assert not first.shards

    staying.wait()

    is_whole(client, record, site)


def test_the_shards_of_a_scheduler_that_dies_are_claimed(server, client, record, site):
    dead, _ = join(server, record, site)
    while len(site.requests) < PAGES // 4:
        gevent.sleep(0.005)
    # It takes, commits, reads and renews nothing any more.
    dead.frontier.pause()
    dead._renewals.close()
    dead._inboxes.close()
    dead._commits._writing.kill()
    dead._commits.failure = RuntimeError("dead")

    _, living = join(server, record, site)
    living.wait()

    is_whole(client, record, site)


def test_a_paused_job_takes_nothing_and_a_resumed_one_goes_on(server, client, record, site):
    control_job(server.url, "job", "paused")
    member, result = join(server, record, site)
    while member.status != "paused":
        gevent.sleep(0.01)
    assert not site.requests
    assert member.frontier.view.waiting_for() in {"the job is paused", "pages of other schedulers"}

    control_job(server.url, "job", "running")
    result.wait()

    is_whole(client, record, site)


def test_a_stopped_job_ends_its_schedulers_and_can_be_continued(server, client, record, site):
    member, result = join(server, record, site)
    while len(site.requests) < PAGES // 4:
        gevent.sleep(0.005)
    control_job(server.url, "job", "stopped")
    result.wait()
    assert member.status == "stopped"
    assert len(ends(client, record)) < PAGES

    control_job(server.url, "job", "running")
    _, again = join(server, record, site)
    again.wait()

    is_whole(client, record, site)
