import json

import gevent
from prometheus_client.parser import text_string_to_metric_families

from crawler.portal.metrics import Crawl, CrawlMetrics, metrics_text

from .conftest import request

COMMITS = (("job", "hostile"), ("target", "sqlite"))


def samples(text):
    return {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def read(live):
    return samples(request(live.url + "metrics").text)


def test_the_metrics_agree_with_the_summary(live):
    summary, found = live.result.summary, read(live)
    job = ("job", "hostile")

    assert found["crawler_urls_total", job, ("outcome", "done"), ("reason", "")] == 3
    assert found["crawler_urls_total", job, ("outcome", "failed"), ("reason", "parse")] == 1
    assert found["crawler_urls_pending", job] == 1
    assert found["crawler_responses_total", ("code", "2xx"), job] == 4
    assert found["crawler_response_bytes_total", job] == summary.bytes
    errors = {key[2][1]: n for key, n in found.items() if key[0] == "crawler_errors_total"}
    assert errors == summary.errors.kinds
    assert sum(errors.values()) == summary.errors.reported
    assert errors["parse"] == 1
    assert found["crawler_items_total", job, ("outcome", "processed")] == 3
    assert found["crawler_in_flight_bytes", job] == summary.in_flight_bytes
    assert found["crawler_retries_total", job, ("kind", "")] == summary.retried == 0
    assert found["crawler_build_info", ("version", "0.1.0")] == 1


def test_retries_have_their_kind_unless_an_older_version_has_counted_them(live):
    urls, summary = live.result.summary.urls, live.result.summary.to_dict()
    retried = summary | {"retried": 3, "retries": {"timeout": 1, "http_503": 2}}
    older = {name: value for name, value in retried.items() if name != "retries"}
    del older["in_flight_bytes"]

    crawls = CrawlMetrics([Crawl("new", urls, retried), Crawl("old", urls, older)])
    found = samples(metrics_text(crawls).decode())

    retries = {key[1:]: n for key, n in found.items() if key[0] == "crawler_retries_total"}
    assert retries == {
        (("job", "new"), ("kind", "timeout")): 1,
        (("job", "new"), ("kind", "http_503")): 2,
        (("job", "old"), ("kind", "")): 3,
    }


def test_hosts_are_counted_by_state(live):
    found = read(live)

    hosts = {dict(key[1:])["state"]: n for key, n in found.items() if key[0] == "crawler_hosts"}
    assert hosts == {"in_flight": 1, "ready": 0, "resting": 0, "waiting": 0, "idle": 0}
    assert json.loads(request(live.url + "api/v1/hosts").text) == hosts


def test_the_histogram_of_latencies_is_whole(live):
    found, summary = read(live), live.result.summary
    buckets = [
        value for name, value in found.items() if name[0] == "crawler_fetch_duration_seconds_bucket"
    ]

    assert buckets == sorted(buckets)
    assert len(buckets) == 18
    assert found["crawler_fetch_duration_seconds_count", ("job", "hostile")] == summary.responses
    assert found["crawler_fetch_duration_seconds_sum", ("job", "hostile")] > 0


def test_the_commits_of_a_job_are_measured(live):
    with gevent.Timeout(120):
        while not read(live).get(("crawler_commit_duration_seconds_count", *COMMITS)):
            gevent.sleep(0.05)
    found = read(live)

    name = "crawler_commit_duration_seconds"
    buckets = [value for key, value in found.items() if key[0] == f"{name}_bucket"]
    assert (len(buckets), buckets) == (13, sorted(buckets))
    assert found[name + "_count", *COMMITS] == buckets[-1]
    assert found[name + "_sum", *COMMITS] > 0
    assert found["crawler_uncommitted_pages", COMMITS[0]] >= 0


def test_no_label_grows_with_the_web(live):
    names = {label for name in read(live) for label, _ in name[1:]}

    known = {"job", "outcome", "reason", "code", "kind", "pool", "target", "le", "version", "state"}
    assert names <= known
