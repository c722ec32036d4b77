from crawler import Request, Spider


class Start(Spider):
    """crawler run start.py -a tags=love,life"""

    tags = "love,life"

    def start(self):
        for number, tag in enumerate(self.tags.split(",")):
            yield Request(
                f"http://quotes.test/tag/{tag}/", priority=-number, cb_kwargs={"tag": tag}
            )
        again = "http://quotes.test/tag/love/"
        yield Request(again, callback=self.parse_again, dont_filter=True)

    def parse(self, page, tag):
        for text in page.css(".text::text").getall():
            yield {"tag": tag, "text": text}

    def parse_again(self, page):
        yield {"again": len(page.css(".quote"))}
