"""Read every error in a greenlet of its own while the crawl runs."""

import gevent

from crawler import (
    Analyzer,
    CurlFetch,
    DataArgs,
    Downloader,
    ModuleArgs,
    Pipeline,
    RequestArgs,
    Scheduler,
)
from crawler.spider import links
from crawler.testing import LoopbackSite, faults


def parse(response):
    if response.url.endswith("/odd"):
        raise ValueError("I cannot read this page")
    yield from links(response)


def consume(errors):
    for error in errors:
        print(f"{error.kind:<10} {error.module}  {error.request.url}  {error.reason}")


PAGES = {
    "/": "<a href=/odd>odd</a> <a href=/cut>cut</a> <a href=/fine>fine</a>",
    "/odd": "hm",
    "/cut": faults.truncated(),
    "/fine": "fine",
}
with LoopbackSite(PAGES) as site, Scheduler() as scheduler:
    modules = ModuleArgs([Downloader(CurlFetch())], [Analyzer(parse)], [Pipeline()])
    scheduler.init(RequestArgs(max_depth=1), DataArgs(), modules)
    consumer = gevent.spawn(consume, scheduler.error_chan())
    scheduler.start(site.url())
    scheduler.join()
    scheduler.stop()
    consumer.join()
    print(scheduler.summary().urls)
