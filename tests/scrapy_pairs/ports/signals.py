from crawler import Request, Spider


class Signals(Spider):
    start_urls = ["http://quotes.test/page/3/"]

    def open(self):
        self.waiting = ["Ada", "Grace"]

    def next_request(self):
        if self.waiting:
            name = self.waiting.pop()
            return Request(f"http://quotes.test/author/{name}", callback=self.parse_author)
        return None

    def on_error(self, error):
        url = f"http://quotes.test/tag/life/?failed={error.request.url[-2]}"
        yield Request(url, callback=self.parse_tag)

    def close(self):
        self.logger.info("closed: %d left", len(self.waiting))

    def parse(self, page):
        yield {"quotes": len(page.css(".quote"))}
        raise ValueError("a defect in a callback")

    def parse_tag(self, page):
        yield {"url": page.url}

    def parse_author(self, page):
        yield {"name": page.css("h3::text").get().strip()}
