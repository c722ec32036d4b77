"""Which URLs of a job are in Redis."""

from crawler.cluster.job_urls import job_urls
from crawler.data import Request
from crawler.frontier import DONE
from crawler.frontier.outcome import failed

from .shard import holder


def test_what_waits_and_what_has_ended_is_listed_until_it_was_collected(server):
    with holder(server.url) as one:
        frontier = one.open(0, "mine").frontier
        for name in "abc":
            frontier.admit(Request(f"http://x.test/{name}", found_on="http://x.test/", depth=2))
        outcomes = [DONE, failed("timeout")]
        ended = {}
        for outcome in outcomes:
            taken = frontier.take()
            frontier.settle(taken, outcome)
            ended[taken.request.url] = (outcome.status, outcome.reason)
            one.commits.write()
        name, [first, _] = one.record.keys.name, one.client.xrange(one.record.keys.log)
        found = {story["url"]: story for story in job_urls(server.url, name)}
        later = [story["url"] for story in job_urls(server.url, name, first[0].decode())]

    waits = {f"http://x.test/{name}" for name in "abc"} - ended.keys()
    assert {url: (one["status"], one["reason"]) for url, one in found.items()} == {
        **ended,
        **dict.fromkeys(waits, ("pending", "")),
    }
    assert {(one["depth"], one["found_on"]) for one in found.values()} == {(2, "http://x.test/")}
    assert later == [*waits, list(ended)[1]]
