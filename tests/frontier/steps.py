"""The steps of a crawl, made one by one on a frontier that lives by a clock set by hand."""

import gevent

from crawler.data import Response
from crawler.errors import DownloadError
from crawler.frontier import DONE, Next, failed
from crawler.headers import Headers

DOMAINS = ["a.test", "b.test", "c.test"]


class Clock:
    """A clock that is set by hand."""

    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


def take(frontier):
    """Take what is due now; None if nothing is."""
    with gevent.Timeout(0.02, False):
        return frontier.take()
    # On a busy machine the time may be over before a request that is due was looked at.
    return None if frontier.view.paused else frontier.take_due()


def answer(frontier, taken, status=200, body=b"", **headers):
    """Let a fetch end with a response; settle the request if that was its end."""
    fields = Headers({name.replace("_", "-"): value for name, value in headers.items()})
    outcome = frontier.fetched(
        taken, Response(taken.request.url, status, fields, body, taken.request)
    )
    return end(frontier, taken, outcome)


def fail(frontier, taken, kind="connect"):
    return end(
        frontier, taken, frontier.fetched(taken, DownloadError("D1", taken.request, "no", kind))
    )


def take_failed(frontier):
    """Settle what has failed while it waited; return the failures."""
    failures = []
    while (taken := take(frontier)) is not None:
        assert taken.failure is not None
        failures.append(taken.failure)
        frontier.settle(taken, failed(taken.failure.kind))
    return failures


def end(frontier, taken, outcome):
    if outcome is not Next.AGAIN:
        frontier.settle(taken, DONE if outcome is Next.ANALYZE else outcome)
    return outcome


def figures(frontier, name):
    return next(row for row in frontier.view.hosts() if row.host == name)


def balances(frontier):
    counts = frontier.view.counts()
    ended = counts.done + sum(counts.failed.values()) + sum(counts.refused.values())
    return counts.admitted == ended + counts.pending and counts.pending >= 0
