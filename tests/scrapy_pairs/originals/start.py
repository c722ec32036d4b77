import scrapy


class StartSpider(scrapy.Spider):
    """scrapy runspider start.py -a tags=love,life"""

    name = "start"

    def __init__(self, tags="love,life", *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.tags = tags.split(",")

    async def start(self):
        for number, tag in enumerate(self.tags):
            yield scrapy.Request(
                f"http://quotes.test/tag/{tag}/", priority=-number, cb_kwargs={"tag": tag}
            )
        yield scrapy.Request("http://quotes.test/tag/love/", self.parse_again, dont_filter=True)

    def parse(self, response, tag):
        for text in response.css(".text::text").getall():
            yield {"tag": tag, "text": text}

    def parse_again(self, response):
        yield {"again": len(response.css(".quote"))}
