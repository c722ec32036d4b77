import re
import subprocess
import sys

import pytest

import crawler
import crawler.feed


def test_exports_exactly_what_it_promises():
    assert sorted(crawler.__all__) == sorted(
        """
        Headers Item Request Response Buffer Pool
        MID Analyzer Counts Downloader Module Pipeline Registrar classic_score load_score
        CurlFetch SessionFetch Budget Politeness Retries
        CrawlResult CrawlSpider FormRequest JsonRequest Job LinkExtractor Page Rule Spider crawl stream
        DataArgs ModuleArgs Monitor RequestArgs Scheduler Status Summary
        AnalyzeError CrawlerError DownloadError DropItem FetchError InvalidURL JobError ModuleError
        NoModule
        PipelineError PoolClosed Refused StateError
        """.split()  # noqa: SIM905 - a list of names
    )
    assert all(hasattr(crawler, name) for name in crawler.__all__)


def printed_by(code):
    """Run *code* in a fresh interpreter."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_it_patches_nothing_and_imports_no_heavy_package():
    code = (
        "import sys, crawler; from gevent import monkey; "
        "print(monkey.is_module_patched('socket'), "
        "[name for name in ('requests', 'rich', 'click', 'parsel') if name in sys.modules])"
    )

    assert printed_by(code).strip() == "False []"


def test_importing_it_imports_few_modules():
    """Counted, because a time depends on the machine: 39 take 0.03 s of CPU."""
    code = "import sys; before = len(sys.modules); import crawler; print(len(sys.modules) - before)"

    assert int(printed_by(code)) < 60


def test_names_are_imported_at_first_use_and_no_module_hides_one():
    code = (
        "import sys, crawler; print('gevent' in sys.modules); "
        "import crawler.compose, crawler.errors; from crawler import crawl, PoolClosed; "
        "print(callable(crawl), crawler.crawl is crawl, PoolClosed is crawler.errors.PoolClosed)"
    )

    assert printed_by(code).split() == ["False", "True", "True", "True"]


def test_importing_a_spider_does_not_import_the_scheduler():
    code = (
        "import sys; from crawler import Page, Request, Spider; "
        "print([part for part in ('compose', 'scheduler', 'fetch', 'job')"
        " if f'crawler.{part}' in sys.modules])"
    )

    assert printed_by(code).strip() == "[]"


def test_an_analysis_process_imports_neither_frontier_nor_feeds():
    code = (
        "import sys, crawler.analysis.worker.main; "
        "print([part for part in ('frontier', 'module.remote.analyzer', 'feed.output', 'middleware.download.http_cache')"
        " if f'crawler.{part}' in sys.modules])"
    )

    assert printed_by(code).strip() == "[]"


@pytest.mark.parametrize("part", ["feed", "middleware", "module"])
def test_each_name_of_a_package_is_imported_at_first_use(part):
    code = (
        f"import crawler.{part} as part; print([name for name in part.__all__"
        " if getattr(part, name).__name__ != name or name not in vars(part)])"
    )

    assert printed_by(code).strip() == "[]"


def test_an_unknown_name_of_a_package_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"module 'crawler\.feed' has no attribute 'Nothing'"):
        crawler.feed.Nothing


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("Selector", "write from parsel import Selector"),
        ("Field", "write from crawler.items import Field, Item"),
        ("signals", "write open(), close()"),
    ],
)
def test_a_name_of_scrapy_that_is_not_here_says_what_to_write_instead(name, remedy):
    with pytest.raises(AttributeError, match=re.escape(remedy)):
        getattr(crawler, name)
    assert not hasattr(crawler, name)


def test_other_names_have_no_remedy():
    with pytest.raises(AttributeError, match=r"has no attribute 'Nothing'$"):
        crawler.Nothing
