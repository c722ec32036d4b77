import scrapy


class StatusSpider(scrapy.Spider):
    name = "statuses"
    handle_httpstatus_list = [404]

    async def start(self):
        yield scrapy.Request("http://shop.test/gone")
        yield scrapy.Request("http://shop.test/old", meta={"kind": "followed"})
        yield scrapy.Request(
            "http://shop.test/old",
            dont_filter=True,
            meta={"dont_redirect": True, "handle_httpstatus_list": [301]},
        )
        yield scrapy.Request("http://shop.test/", method="HEAD", dont_filter=True)

    def parse(self, response):
        yield {
            "status": response.status,
            "url": response.url,
            "method": response.request.method,
            "to": response.headers.get("Location", b"").decode(),
            "kind": response.meta.get("kind"),
        }
