import scrapy


class LoginSpider(scrapy.Spider):
    name = "login"
    start_urls = ["http://quotes.test/login"]

    def parse(self, response):
        return scrapy.FormRequest.from_response(
            response,
            formid="login",
            formdata={"username": "ada", "password": "lovelace"},
            callback=self.after_login,
        )

    def after_login(self, response):
        if response.css(".error"):
            self.logger.error("Login failed")
            return
        for secret in response.css("li::text").getall():
            yield {"greeting": response.css("h1::text").get(), "secret": secret}
