import scrapy
from scrapy import signals
from scrapy.exceptions import DontCloseSpider


class SignalsSpider(scrapy.Spider):
    name = "signals"
    start_urls = ["http://quotes.test/page/3/"]

    @classmethod
    def from_crawler(cls, crawler, *args, **kwargs):
        spider = super().from_crawler(crawler, *args, **kwargs)
        connect = crawler.signals.connect
        connect(spider.spider_opened, signal=signals.spider_opened)
        connect(spider.spider_idle, signal=signals.spider_idle)
        connect(spider.spider_error, signal=signals.spider_error)
        connect(spider.spider_closed, signal=signals.spider_closed)
        return spider

    def spider_opened(self, spider):
        self.waiting = ["Ada", "Grace"]

    def spider_idle(self, spider):
        if self.waiting:
            name = self.waiting.pop()
            request = scrapy.Request(f"http://quotes.test/author/{name}", self.parse_author)
            self.crawler.engine.crawl(request)
            raise DontCloseSpider

    def spider_error(self, failure, response, spider):
        url = f"http://quotes.test/tag/life/?failed={response.url[-2]}"
        self.crawler.engine.crawl(scrapy.Request(url, self.parse_tag))

    def spider_closed(self, spider, reason):
        self.logger.info("closed: %s, %d left", reason, len(self.waiting))

    def parse(self, response):
        yield {"quotes": len(response.css(".quote"))}
        raise ValueError("a defect in a callback")

    def parse_tag(self, response):
        yield {"url": response.url}

    def parse_author(self, response):
        yield {"name": response.css("h3::text").get().strip()}
