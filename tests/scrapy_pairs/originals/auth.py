import scrapy


class AuthSpider(scrapy.Spider):
    name = "auth"
    start_urls = ["http://shop.test/orders"]
    http_user = "ada"
    http_pass = "lovelace"
    http_auth_domain = "shop.test"

    def parse(self, response):
        yield {"orders": response.css("li::text").getall()}
        yield scrapy.Request("http://quotes.test/echo", self.parse_elsewhere)

    def parse_elsewhere(self, response):
        yield {"sent": "authorization" in response.json()}
