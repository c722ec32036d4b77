"""A whole crawl: fetch pages, follow their links, print what was found."""

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
from crawler.spider import links, title
from crawler.testing import LoopbackSite


def parse(response):
    yield {"url": response.url.removeprefix(site.url()), "title": title(response)}
    yield from links(response)


def show(item):
    print(f"/{item['url']:<6} {item['title']}")
    return item


PAGES = {
    "/": "<title>Home</title><a href=/about>About us</a> <a href=/news>News</a>",
    "/about": "<title>About us</title><a href=/>Home</a>",
    "/news": "<title>News</title><a href=/about>About us</a>",
}
with LoopbackSite(PAGES) as site, Scheduler() as scheduler:
    modules = ModuleArgs([Downloader(CurlFetch())], [Analyzer(parse)], [Pipeline(show)])
    scheduler.init(RequestArgs(max_depth=2), DataArgs(), modules)
    scheduler.start(site.url())
    scheduler.join()
    print(scheduler.stop().urls)
