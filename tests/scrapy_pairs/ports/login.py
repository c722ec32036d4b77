from crawler import Spider


class Login(Spider):
    start_urls = ["http://quotes.test/login"]

    def parse(self, page):
        values = {"username": "ada", "password": "lovelace"}
        yield page.form("#login", values, callback=self.after_login)

    def after_login(self, page):
        if page.css(".error"):
            self.logger.error("Login failed")
            return
        for secret in page.css("li::text").getall():
            yield {"greeting": page.css("h1::text").get(), "secret": secret}
