"""A Monitor records the progress of a crawl and stops it when it is finished."""

from crawler import (
    Analyzer,
    CurlFetch,
    DataArgs,
    Downloader,
    ModuleArgs,
    Monitor,
    Pipeline,
    Politeness,
    RequestArgs,
    Scheduler,
)
from crawler.spider import links
from crawler.testing import LoopbackSite, Reply, faults, generated_site

pages = generated_site(pages=200, links=10, size=2000)
pages |= {path: Reply(body=pages[path], delay=0.05) for path in list(pages)[::4]}
pages[list(pages)[7]] = faults.garbage()


def on_summary(summary):
    print(f"{summary.status}: {summary.urls.done} done, {summary.urls.pending} pending")


with LoopbackSite(pages) as site:
    scheduler = Scheduler()
    monitor = Monitor(scheduler, on_summary=on_summary, on_error=print, interval=0.2)
    modules = ModuleArgs(
        [Downloader(CurlFetch())], [Analyzer(links)], [Pipeline()], download_workers=8
    )
    scheduler.init(RequestArgs(max_depth=None, politeness=Politeness.off()), DataArgs(), modules)
    scheduler.start(site.url())
    monitor.join()
