from crawler import Spider


class Inline(Spider):
    start_urls = ["http://quotes.test/page/1/"]

    def parse(self, page):
        for quote in page.css("div.quote"):
            author = self.fetch(page.urljoin(quote.css("a::attr(href)").get()))
            yield {
                "text": quote.css(".text::text").get(),
                "born": author.css(".author-born-date::text").get(),
            }
