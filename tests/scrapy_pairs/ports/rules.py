from crawler import CrawlSpider, LinkExtractor, Rule


class Shop(CrawlSpider):
    start_urls = ["http://shop.test/"]
    rules = (
        Rule(LinkExtractor(allow=r"/category/", restrict_css="nav")),
        Rule(
            LinkExtractor(allow=r"/product/\d+\.html", deny=r"/product/7"),
            callback="parse_product",
            cb_kwargs={"source": "rule"},
            process_links="without_query",
            follow=True,
        ),
    )

    def without_query(self, links):
        for link in links:
            link.url = link.url.partition("?")[0]
        return links

    def parse_start_url(self, page):
        yield {"start": page.css("h1::text").get()}

    def parse_product(self, page, source):
        yield {
            "url": page.url,
            "name": page.css("h1::text").get().strip(),
            "price": page.css(".price::text").re_first(r"[\d.]+"),
            "source": source,
        }
