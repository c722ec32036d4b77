"""The scope of a crawl: accepted domains and depth, and why a URL was turned away."""

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
from crawler.testing import Site

site = Site(
    {
        "https://shop.example.co.uk/": "<a href=//blog.example.co.uk/>blog</a> <a href=/deep/1>deep</a>",
        "https://blog.example.co.uk/": "<a href=https://partner.test/>partner</a>",
        "https://partner.test/": "<a href=https://elsewhere.test/>elsewhere</a>",
        "https://shop.example.co.uk/deep/1": "<a href=/deep/2>deeper</a>",
        "https://shop.example.co.uk/deep/2": "<a href=/deep/3>too deep</a>",
    }
)
with Scheduler() as scheduler:
    # The start page's own registered domain, example.co.uk, is accepted without saying so.
    scheduler.init(
        RequestArgs(["partner.test"], max_depth=2, politeness=Politeness.off()),
        DataArgs(),
        ModuleArgs([Downloader(site)], [Analyzer(links)], [Pipeline()]),
    )
    scheduler.start("https://shop.example.co.uk/")
    scheduler.join()
    urls = scheduler.stop().urls
    print("fetched:", *sorted(request.url for request in site.requests), sep="\n  ")
    print("turned away:", dict(urls.turned_away))
