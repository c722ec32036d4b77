"""Schedulers that join one job, all of them in this process."""

import gevent

from crawler import stream
from crawler.cluster.blob import unpack
from crawler.cluster.member import Member
from crawler.spider import PageSpider

from .tree_site import SETTINGS

PAGES = 80
_joined = []


def join(server, record, site, spider=None, settings=SETTINGS, **options):
    """Let one more scheduler work on the job."""
    member = Member(server.url, record, **options)
    result = stream(spider or PageSpider(start_urls=[site.first()]), job=member, **settings)
    gevent.spawn(list, result)
    _joined.append(result)
    return member, result


def stop_all():
    """Stop who is left of a test that failed: the next job may have the same name."""
    while _joined:
        _joined.pop().stop()


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
