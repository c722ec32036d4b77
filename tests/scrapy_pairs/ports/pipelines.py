from crawler import DropItem, Spider


def in_stock(item):
    if item["stock"] == 0:
        raise DropItem("not in stock")
    return item


def price(item):
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


class Pipelines(Spider):
    start_urls = [f"http://shop.test/product/{n}.html?twice={i}" for n in range(1, 6) for i in "ab"]
    pipelines = [in_stock, Once, price]

    def parse(self, page):
        yield {
            "name": page.css("h1::text").get().strip(),
            "price": page.css(".price::text").get(),
            "stock": int(page.css(".facts b::text").getall()[1]),
        }
