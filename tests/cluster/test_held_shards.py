"""Shards are given back, and given up."""

import gevent

from crawler.cluster.job_record import control_job, create_job

from .joined import PAGES, is_whole, join


def test_a_scheduler_that_leaves_gives_its_shards_to_the_other(server, client, record, site):
    first, leaving = join(server, record, site)
    while len(site.requests) < PAGES // 4:
        gevent.sleep(0.005)
    _, staying = join(server, record, site)
    leaving.stop()
    assert not first.held.active

    staying.wait()

    is_whole(client, record, site)


def test_a_scheduler_that_joins_soon_has_its_share_however_long_leases_last(server, ttl, site):
    record = create_job(server.url, "three", {}, shards=3, ttl=ttl)
    control_job(server.url, "three", "pause")
    first, one = join(server, record, site)
    while sorted(first.held.active) != [0, 1, 2]:
        gevent.sleep(0.005)

    second, other = join(server, record, site)
    while len(second.held.active) != 1:
        gevent.sleep(0.005)

    assert len(first.held.active) == 2
    one.stop()
    while len(second.held.active) != 3:
        gevent.sleep(0.005)
    other.stop()
