import scrapy


class PaginationSpider(scrapy.Spider):
    name = "pagination"
    start_urls = ["http://quotes.test/"]
    max_pages = 2

    def parse(self, response, number=1):
        for quote in response.css("div.quote"):
            yield {"page": number, "text": quote.css(".text::text").get()}
        if number < self.max_pages:
            for link in response.css("li.next a"):
                yield response.follow(link, cb_kwargs={"number": number + 1})
