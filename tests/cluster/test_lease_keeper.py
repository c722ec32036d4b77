"""Leases that have run out are claimed."""

import gevent

from .joined import PAGES, is_whole, join


def test_the_shards_of_a_scheduler_that_dies_are_claimed(server, client, record, site):
    dead, _ = join(server, record, site)
    while len(site.requests) < PAGES // 4:
        gevent.sleep(0.005)
    # It takes, commits, reads and renews nothing any more.
    dead.frontier.pause()
    dead.leases.close()
    dead.inboxes.close()
    dead.held.commits._writing.kill()
    dead.held.commits.failure = RuntimeError("dead")

    _, living = join(server, record, site)
    living.wait()

    is_whole(client, record, site)
