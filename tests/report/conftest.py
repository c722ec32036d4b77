from dataclasses import replace

import pytest

from crawler.frontier import UrlCounts
from crawler.module import Analyzer, Downloader, Pipeline
from crawler.scheduler import DataArgs, ModuleArgs, RequestArgs, Scheduler
from crawler.testing import Site


@pytest.fixture
def summary():
    """The summary of a crawl that has a hundred pages left and waits for nothing in particular."""
    scheduler = Scheduler()
    modules = ModuleArgs(
        [Downloader(Site({}))],
        [Analyzer(lambda response: [])],
        [Pipeline()],
        *(8, 4, 2),
    )
    scheduler.init(RequestArgs(), DataArgs(), modules)
    return replace(scheduler.summary(), urls=UrlCounts(admitted=100, pending=100))
