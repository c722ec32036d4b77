from crawler import Request, Spider


class Api(Spider):
    api = "http://quotes.test/api/"

    def page(self, tag, number):
        return Request(
            f"{self.api}quotes",
            params={"tag": tag, "page": number},
            headers={"X-Key": "k1"},
            callback=self.parse_quotes,
            cb_kwargs={"tag": tag, "number": number},
        )

    def start(self):
        for tag in ("love", "humor"):
            yield self.page(tag, 1)

    def parse_quotes(self, page, tag, number):
        data = page.json()
        for quote in data["quotes"]:
            yield {"tag": tag, "page": number, "text": quote["text"]}
            yield Request(
                f"{self.api}search",
                json={"author": quote["author"], "limit": 2},
                callback=self.parse_search,
                cb_kwargs={"author": quote["author"]},
            )
        if data["has_next"]:
            yield self.page(tag, number + 1)

    def parse_search(self, page, author):
        yield {"author": author, "texts": page.json()["texts"]}
