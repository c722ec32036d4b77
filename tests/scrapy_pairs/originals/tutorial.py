import scrapy


class AuthorSpider(scrapy.Spider):
    name = "author"
    start_urls = ["http://quotes.test/"]

    def parse(self, response):
        for quote in response.css("div.quote"):
            yield {
                "text": quote.css("span.text::text").get(),
                "author": quote.xpath("span/small/text()").get(),
                "tags": quote.css("div.tags a.tag::text").getall(),
            }
        yield from response.follow_all(response.css(".author + a"), self.parse_author)

        next_page = response.css("li.next a::attr(href)").get()
        if next_page is not None:
            yield response.follow(next_page, callback=self.parse)

    def parse_author(self, response):
        def extract_with_css(query):
            return response.css(query).get(default="").strip()

        yield {
            "name": extract_with_css("h3.author-title::text"),
            "birthdate": extract_with_css(".author-born-date::text"),
            "bio": extract_with_css(".author-description::text"),
        }
