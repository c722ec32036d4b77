import scrapy
from scrapy.spidermiddlewares.httperror import HttpError


class ErrbackSpider(scrapy.Spider):
    name = "errback"
    custom_settings = {"RETRY_TIMES": 1}
    paths = ("/product/1.html", "/gone", "/broken", "/cut")

    async def start(self):
        for path in self.paths:
            url = f"http://shop.test{path}"
            yield scrapy.Request(url, self.parse, errback=self.failed, meta={"path": path})

    def parse(self, response):
        yield {"path": response.meta["path"], "name": response.css("h1::text").get().strip()}

    def failed(self, failure):
        path = failure.request.meta["path"]
        if failure.check(HttpError):
            yield {"path": path, "status": failure.value.response.status}
            yield scrapy.Request(
                "http://shop.test/product/2.html", self.parse, meta={"path": "instead"}
            )
        else:
            yield {"path": path, "status": None}
