"""The methods and attributes of ported spiders that Scrapy uses, and nothing here does."""

from __future__ import annotations

from collections.abc import Iterator

from .spider import Spider

#: What to write instead of each name, by the name of the class whose subclasses it concerns.
_IGNORED = {
    "Spider": {
        "closed": "write close(self); the reason is crawl(…).reason",
        "from_crawler": "write __init__(self, **arguments), and open(self) for what a crawl needs",
        "update_settings": "set the attribute settings",
        "spider_closed": "write close(self): there are no signals",
        "spider_opened": "write open(self): there are no signals",
        "download_delay": 'write settings = {"delay": …}',
        "download_maxsize": 'write settings = {"max_body": …}',
        "download_timeout": 'write settings = {"timeout": …}',
        "http_user": "write download_middlewares = [lambda: HttpAuth(user, password, origin)]",
        "max_concurrent_requests": 'write settings = {"per_host": …}',
        "user_agent": 'write settings = {"user_agent": …}',
    },
    "CrawlSpider": {"process_results": "change the items in a pipeline"},
    "SitemapSpider": {
        "sitemap_alternate_links": "alternate links are not followed",
    },
}


def ignored_names(spider: Spider) -> Iterator[str]:
    """Yield a sentence for each method or attribute of *spider* that only Scrapy would use."""
    kind = type(spider)
    for base in kind.__mro__:
        for name, instead in _IGNORED.get(base.__name__, {}).items():
            if callable(given := getattr(kind, name, None)):
                yield f"{kind.__name__}.{name}() is never called: {instead}"
            elif given is not None:
                yield f"{kind.__name__}.{name} is never read: {instead}"
