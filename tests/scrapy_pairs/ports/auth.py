from crawler import Request, Spider
from crawler.middleware import HttpAuth


class Auth(Spider):
    start_urls = ["http://shop.test/orders"]
    allowed_domains = ["quotes.test"]
    download_middlewares = [lambda: HttpAuth("ada", "lovelace", "http://shop.test")]

    def parse(self, page):
        yield {"orders": page.css("li::text").getall()}
        yield Request("http://quotes.test/echo", callback=self.parse_elsewhere)

    def parse_elsewhere(self, page):
        yield {"sent": "authorization" in page.json()}
