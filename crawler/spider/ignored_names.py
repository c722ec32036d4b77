"""The names of ported spiders, middlewares and pipelines that Scrapy uses, and nothing here does."""

from __future__ import annotations

from collections.abc import Iterator

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
    "FilesPipeline": {
        "file_downloaded": "write process_file(self, result)",
        "file_path": "files are named by their content; process_file(self, result) may copy one",
        "from_crawler": "name an instance in pipelines",
        "from_settings": "name an instance in pipelines",
        "get_media_requests": "put the URLs into the field file_urls, or name it by urls_field=",
        "image_downloaded": "write process_file(self, result)",
        "item_completed": "write another pipeline after it, which reads the results in the item",
        "media_downloaded": "write process_file(self, result)",
        "thumb_path": "thumbnails are named by the content of their image",
    },
    "DownloadMiddleware": {
        "process_request": "write before_download(self, request), which returns the request",
        "process_response": "write after_download(self, response), which returns the response",
        "process_exception": "write on_failure(self, request, error)",
        "from_crawler": "name it in download_middlewares with its arguments: lambda: Name(…)",
    },
    "SpiderMiddleware": {
        "process_spider_input": "a callback cannot be skipped; a download middleware can raise Refusal",
        "process_spider_output": "write process_item and process_request, called for each of them",
        "process_spider_exception": "write on_error(self, error) in the spider",
        "process_start": "process_request gets first requests too, with response=None",
        "process_start_requests": "process_request gets first requests too, with response=None",
        "from_crawler": "name it in middlewares with its arguments: lambda: Name(…)",
    },
}


def ignored_names(part: object) -> Iterator[str]:
    """Yield a sentence for each name of a spider, a middleware or a pipeline that only Scrapy would use."""
    kind = type(part)
    for base in kind.__mro__:
        for name, instead in _IGNORED.get(base.__name__, {}).items():
            if callable(given := getattr(kind, name, None)):
                yield f"{kind.__name__}.{name}() is never called: {instead}"
            elif given is not None:
                yield f"{kind.__name__}.{name} is never read: {instead}"
