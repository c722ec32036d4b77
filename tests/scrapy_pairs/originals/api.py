from urllib.parse import urlencode

import scrapy
from scrapy.http import JsonRequest


class ApiSpider(scrapy.Spider):
    name = "api"
    api = "http://quotes.test/api/"

    def page(self, tag, number):
        return scrapy.Request(
            f"{self.api}quotes?{urlencode({'tag': tag, 'page': number})}",
            headers={"X-Key": "k1"},
            callback=self.parse_quotes,
            cb_kwargs={"tag": tag, "number": number},
        )

    async def start(self):
        for tag in ("love", "humor"):
            yield self.page(tag, 1)

    def parse_quotes(self, response, tag, number):
        data = response.json()
        for quote in data["quotes"]:
            yield {"tag": tag, "page": number, "text": quote["text"]}
            yield JsonRequest(
                f"{self.api}search",
                data={"author": quote["author"], "limit": 2},
                callback=self.parse_search,
                cb_kwargs={"author": quote["author"]},
            )
        if data["has_next"]:
            yield self.page(tag, number + 1)

    def parse_search(self, response, author):
        yield {"author": author, "texts": response.json()["texts"]}
