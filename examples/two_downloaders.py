"""Two downloaders share the load; the slow one gets less of it."""

import gevent

from crawler import (
    Analyzer,
    DataArgs,
    Downloader,
    ModuleArgs,
    Pipeline,
    Politeness,
    RequestArgs,
    Scheduler,
)
from crawler.spider import links
from crawler.testing import Site, generated_site

site = Site(generated_site(pages=200, links=10, size=500))


def quick(request):
    gevent.sleep(0.002)
    return site(request)


def slow(request):
    gevent.sleep(0.1)
    return site(request)


with Scheduler() as scheduler:
    scheduler.init(
        RequestArgs(max_depth=None, politeness=Politeness.off()),
        DataArgs(),
        ModuleArgs(
            downloaders=[Downloader(quick, mid="D1"), Downloader(slow, mid="D2")],
            analyzers=[Analyzer(links)],
            pipelines=[Pipeline()],
            download_workers=16,
        ),
    )
    scheduler.start(site.url())
    scheduler.join()
    for downloader in scheduler.stop().downloaders:
        print(downloader.id, downloader.called, "calls")
