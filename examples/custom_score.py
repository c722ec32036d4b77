"""The registrar chooses the module with the lowest score; you can define the score."""

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
from crawler.testing import Site, generated_site


def expensive(counts):
    """A paid proxy, say: three calls of it weigh as much as one of the others."""
    return 3 * counts.called


def cheap(counts):
    return counts.called


def ignore(response):
    return []


site = Site(generated_site(pages=100, links=5, size=500))
with Scheduler() as scheduler:
    scheduler.init(
        RequestArgs(politeness=Politeness.off()),
        DataArgs(),
        ModuleArgs(
            downloaders=[Downloader(site, score=cheap), Downloader(site, score=expensive)],
            analyzers=[Analyzer(ignore)],
            pipelines=[Pipeline()],
        ),
    )
    scheduler.start(site.url(path) for path in generated_site(pages=100, links=5, size=500))
    scheduler.join()
    for downloader in scheduler.stop().downloaders:
        print(downloader.id, downloader.called, "calls")
