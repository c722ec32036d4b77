from prometheus_client.parser import text_string_to_metric_families

from .conftest import request


def read(live):
    answer = request(live.url + "metrics")
    families = text_string_to_metric_families(answer.text)
    return {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for family in families
        for sample in family.samples
    }


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
    assert found["crawler_build_info", ("version", "0.1.0")] == 1


def test_the_histogram_of_latencies_is_whole(live):
    found, summary = read(live), live.result.summary
    buckets = [
        value for name, value in found.items() if name[0] == "crawler_fetch_duration_seconds_bucket"
    ]

    assert buckets == sorted(buckets)
    assert len(buckets) == 18
    assert found["crawler_fetch_duration_seconds_count", ("job", "hostile")] == summary.responses
    assert found["crawler_fetch_duration_seconds_sum", ("job", "hostile")] > 0


def test_no_label_grows_with_the_web(live):
    names = {label for name in read(live) for label, _ in name[1:]}

    assert names <= {"job", "outcome", "reason", "code", "kind", "pool", "le", "version"}
