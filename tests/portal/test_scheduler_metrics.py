"""The metrics of a scheduler that works on a cluster's job, at a real Valkey."""

from contextlib import closing

import gevent
import pytest
from prometheus_client.parser import text_string_to_metric_families

from crawler.cluster.job_record import create_job
from crawler.cluster.redis import connect
from crawler.portal.scheduler_metrics import SchedulerMetricsServer

from ..cluster.joined import join
from ..cluster.shard import shared_server
from ..cluster.tree_site import tree_site
from .conftest import request

JOB = ("job", "job")
PAGES = 20


@pytest.fixture(autouse=True)
def deadline():
    """A deadlock is a red test, not a hung run."""
    with gevent.Timeout(120):
        yield


@pytest.fixture
def found():
    """The metrics of the only scheduler of a job, after its end."""
    server = shared_server()
    with closing(connect(server.url)) as client:
        client.flushall()
    record = create_job(server.url, "job", {}, shards=4, ttl=600.0)
    with tree_site(PAGES) as site, SchedulerMetricsServer() as metrics:
        member, result = join(server, record, site)
        metrics.follow(result.scheduler, member)
        assert request(metrics.url.replace("/metrics", "/other")).status == 404
        assert request(metrics.url.replace(metrics._token, "x" * 32)).status == 403
        bearer = {"Authorization": f"Bearer {metrics._token}"}
        assert request(metrics.url.replace(f"{metrics._token}/", ""), **bearer).status == 200
        result.wait()
        return samples(request(metrics.url).text)


def samples(text):
    return {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_a_scheduler_counts_what_it_sends_receives_and_asks(found):
    received = {
        result: found["crawler_links_received_total", JOB, ("result", result)]
        for result in ("admitted", "turned_away")
    }
    assert found["crawler_links_sent_total", JOB] == sum(received.values())
    assert received["admitted"] >= 1
    assert found["crawler_fenced_total", JOB] == 0
    assert found["crawler_rejoins_total", JOB] == 0
    assert found["crawler_redis_up",] == 1
    assert found["crawler_responses_total", ("code", "2xx"), JOB] == PAGES
    assert found["crawler_hosts", JOB, ("state", "in_flight")] == 0
    # The counts of URLs are those of shards, which move.
    assert not any(name.startswith("crawler_urls") for name, *_ in found)

    commits = ("target", "redis")
    assert found["crawler_commit_duration_seconds_count", JOB, commits] > 0
    assert found["crawler_uncommitted_pages", JOB] == 0
    name = "crawler_redis_call_duration_seconds"
    calls = {dict(key[1:])["script"]: n for key, n in found.items() if key[0] == name + "_count"}
    assert calls["commit"] >= found["crawler_commit_duration_seconds_count", JOB, commits]
    assert calls["renew"] > 0
    assert calls["claim"] >= 5
    assert found[name + "_sum", JOB, ("script", "claim")] > 0
