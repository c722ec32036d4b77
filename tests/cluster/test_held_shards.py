"""Shards are given back, and given up."""

import gevent

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
