"""What a job is about, and what a cluster cannot do."""

import pytest

from crawler import Spider
from crawler.cluster.about import about, differences, refuse_unsupported
from crawler.errors import ClusterError
from crawler.media import FilesPipeline, ImagesPipeline
from crawler.middleware.download.http_cache import HttpCache
from crawler.settings import Settings


def spider(**attributes):
    return type("Some", (Spider,), {"start_urls": ["http://a.test/"], **attributes})()


@pytest.mark.parametrize(
    ("attributes", "settings", "named"),
    [
        ({}, {"bandwidth": 1000}, "bandwidth"),
        ({}, {"budget.min_rate": 1}, "budget.min_rate"),
        ({}, {"duplicate_filter": "off"}, "duplicate_filter"),
        ({"download_middlewares": [HttpCache]}, {}, "HttpCache"),
        ({"pipelines": [FilesPipeline]}, {}, "FilesPipeline"),
        ({"pipelines": [ImagesPipeline()]}, {}, "ImagesPipeline"),
    ],
)
def test_what_a_cluster_cannot_do_is_named(attributes, settings, named):
    with pytest.raises(ClusterError, match=f"cannot do this yet: .*{named}"):
        refuse_unsupported(spider(**attributes), Settings.load(code=settings))


@pytest.mark.parametrize("name", ["max_pages", "max_bytes", "max_errors", "max_seconds", "depth"])
def test_limits_of_the_whole_job_are_part_of_what_it_is_about(name):
    refuse_unsupported(spider(), Settings.load(code={name: 7}))
    job, here = (about(spider(), Settings.load(code={name: value})) for value in (7, 8))

    [difference] = differences(job, here)

    assert name in difference
    assert "7" in difference


def test_concurrency_is_each_machines_own():
    job, here = (about(spider(), Settings.load(code={"concurrency": n})) for n in (7, 8))

    assert [*differences(job, here)] == []
