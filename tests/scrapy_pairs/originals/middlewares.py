import scrapy
from scrapy.exceptions import IgnoreRequest


class Agent:
    """A downloader middleware."""

    def process_request(self, request, spider):
        if "secret" in request.url:
            raise IgnoreRequest("not for us")
        request.headers["X-Agent"] = "tea-bot"

    def process_response(self, request, response, spider):
        return response.replace(body=response.body.replace(b"tea", b"TEA"))


class Marked:
    """A spider middleware."""

    async def process_spider_output(self, response, result, spider):
        async for found in result:
            if isinstance(found, dict):
                yield {**found, "from": response.url}
            elif "/product/8" not in found.url:
                yield found


class MiddlewareSpider(scrapy.Spider):
    name = "middlewares"
    start_urls = ["http://shop.test/guarded", "http://shop.test/secret"]
    custom_settings = {
        "DOWNLOADER_MIDDLEWARES": {Agent: 500},
        "SPIDER_MIDDLEWARES": {Marked: 500},
    }

    def parse(self, response):
        yield {"text": response.css("p::text").get()}
        if response.url.endswith("/guarded"):
            yield response.follow("/product/8.html")
            yield response.follow("/product/2.html")
