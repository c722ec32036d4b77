import scrapy


class InlineSpider(scrapy.Spider):
    name = "inline"
    start_urls = ["http://quotes.test/page/1/"]

    async def parse(self, response):
        for quote in response.css("div.quote"):
            url = response.urljoin(quote.css("a::attr(href)").get())
            author = await self.crawler.engine.download_async(scrapy.Request(url))
            yield {
                "text": quote.css(".text::text").get(),
                "born": author.css(".author-born-date::text").get(),
            }
