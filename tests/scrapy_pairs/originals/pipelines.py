import scrapy
from scrapy.exceptions import DropItem


class InStock:
    def process_item(self, item, spider):
        if item["stock"] == 0:
            raise DropItem("not in stock")
        return item


class Price:
    def process_item(self, item, spider):
        return {**item, "price": float(item["price"].removeprefix("£"))}


class Once:
    def open_spider(self, spider):
        self.seen = set()

    def process_item(self, item, spider):
        if item["name"] in self.seen:
            raise DropItem("seen before")
        self.seen.add(item["name"])
        return item

    def close_spider(self, spider):
        spider.logger.info("%d products", len(self.seen))


class PipelineSpider(scrapy.Spider):
    name = "pipelines"
    start_urls = [f"http://shop.test/product/{n}.html?twice={i}" for n in range(1, 6) for i in "ab"]
    custom_settings = {"ITEM_PIPELINES": {Price: 300, InStock: 100, Once: 200}}

    def parse(self, response):
        yield {
            "name": response.css("h1::text").get().strip(),
            "price": response.css(".price::text").get(),
            "stock": int(response.css(".facts b::text").getall()[1]),
        }
