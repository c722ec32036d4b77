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


def test_nothing_is_taken_while_the_server_is_nearly_full(server, client, record, site):
    client.setrange("filler", 30_000_000, b"x")
    client.config_set("maxmemory", 36_000_000)
    try:
        member, result = join(server, record, site)
        while not member.held.active or not member.frontier.waits_for:
            gevent.sleep(0.01)
        assert "maxmemory" in member.frontier.waits_for
        assert not site.requests
    finally:
        client.config_set("maxmemory", 0)
    client.delete("filler")
    result.wait()

    is_whole(client, record, site)
