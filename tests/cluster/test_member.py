"""Several schedulers work on one job."""

import gevent

from crawler.cluster.job_record import control_job

from .joined import PAGES, ends, is_whole, join


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


def test_a_paused_job_takes_nothing_and_a_resumed_one_goes_on(server, client, record, site):
    control_job(server.url, "job", "pause")
    member, result = join(server, record, site)
    while member.status != "paused":
        gevent.sleep(0.01)
    assert not site.requests
    assert member.frontier.view.waiting_for() in {"the job is paused", "pages of other schedulers"}

    control_job(server.url, "job", "resume")
    result.wait()

    is_whole(client, record, site)


def test_a_stopped_job_ends_its_schedulers_and_can_be_continued(server, client, record, site):
    member, result = join(server, record, site)
    while len(site.requests) < PAGES // 4:
        gevent.sleep(0.005)
    control_job(server.url, "job", "stop")
    result.wait()
    assert member.status == "stopped"
    assert len(ends(client, record)) < PAGES

    control_job(server.url, "job", "resume")
    _, again = join(server, record, site)
    again.wait()

    is_whole(client, record, site)


def test_a_restarted_job_ends_its_schedulers_once_and_goes_on(server, client, record, site):
    first, result = join(server, record, site)
    while len(site.requests) < PAGES // 4:
        gevent.sleep(0.005)
    assert control_job(server.url, "job", "restart") == "running"
    result.wait()
    assert (first.is_restarting, first.status) == (True, "running")
    assert len(ends(client, record)) < PAGES

    second, again = join(server, record, site)
    again.wait()

    assert not second.is_restarting
    is_whole(client, record, site)


def test_who_ends_while_it_claims_shards_keeps_none_of_them(server, client, record, site):
    member, result = join(server, record, site)
    with gevent.Timeout(120):
        while not member.leases._claiming.locked():
            gevent.sleep(0)

    result.stop()

    held = [client.hget(lease, "token") for lease in record.keys.leases]
    assert [token for token in held if token] == []
