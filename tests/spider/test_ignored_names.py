import logging

from crawler import Spider, crawl
from crawler.media import FilesPipeline, ImagesPipeline
from crawler.middleware import DownloadMiddleware, SpiderMiddleware
from crawler.spider import SitemapSpider, ignored_names
from crawler.testing import Site


class Plain(Spider):
    start_urls = ["http://site.test/"]

    def parse(self, page): ...

    def process_results(self, page):
        """Scrapy calls a method of this name of a CrawlSpider only."""


def test_methods_that_nothing_calls_are_named_at_the_start(caplog):
    class Ported(Plain):
        def closed(self, reason): ...

        @classmethod
        def from_crawler(cls, crawler): ...

    with caplog.at_level(logging.WARNING):
        crawl(Ported(), fetch=Site({"/": ""}))

    assert "Ported.closed() is never called: write close(self)" in caplog.text
    assert "Ported.from_crawler() is never called" in caplog.text
    assert list(ignored_names(Plain())) == []


def test_attributes_that_nothing_reads_are_named():
    class Ported(SitemapSpider):
        download_delay = 5
        http_user = "ada"
        sitemap_alternate_links = True

    assert sorted(sentence.partition(":")[0] for sentence in ignored_names(Ported())) == [
        "Ported.download_delay is never read",
        "Ported.http_user is never read",
        "Ported.sitemap_alternate_links is never read",
    ]


def test_hooks_of_middlewares_that_nothing_calls_are_named_at_the_start(caplog):
    class Agent(DownloadMiddleware):
        def process_request(self, request, spider): ...

    class Count(SpiderMiddleware):
        def process_spider_output(self, response, result, spider): ...

    class Ported(Plain):
        download_middlewares = [Agent]
        middlewares = [Count]

    with caplog.at_level(logging.WARNING):
        crawl(Ported(), fetch=Site({"/": ""}))

    assert "Agent.process_request() is never called: write before_download(" in caplog.text
    assert "Count.process_spider_output() is never called: write process_item" in caplog.text
    assert (
        list(ignored_names(DownloadMiddleware())) == list(ignored_names(SpiderMiddleware())) == []
    )


def test_methods_of_a_files_pipeline_that_nothing_calls_are_named(tmp_path, caplog):
    class Named(FilesPipeline):
        def file_path(self, request): ...

    class Ported(Plain):
        pipelines = [Named(tmp_path)]

    with caplog.at_level(logging.WARNING):
        crawl(Ported(), fetch=Site({"/": ""}))

    assert "Named.file_path() is never called: files are named by their content" in caplog.text
    assert list(ignored_names(FilesPipeline(tmp_path))) == []
    assert list(ignored_names(ImagesPipeline(tmp_path))) == []
