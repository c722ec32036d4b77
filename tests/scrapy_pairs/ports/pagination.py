from crawler import Spider


class Pagination(Spider):
    start_urls = ["http://quotes.test/"]
    max_pages = 2

    def parse(self, page, number=1):
        for quote in page.css("div.quote"):
            yield {"page": number, "text": quote.css(".text::text").get()}
        if number < self.max_pages:
            yield from page.follow_all(css="li.next a", cb_kwargs={"number": number + 1})
