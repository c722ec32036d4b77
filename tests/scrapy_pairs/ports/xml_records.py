from crawler import Spider


class Prices(Spider):
    start_urls = ["http://shop.test/prices.xml"]

    def parse(self, page):
        for node in page.xpath("//tea"):
            yield {
                "id": int(node.xpath("@id").get()),
                "name": node.xpath("name/text()").get(),
                "price": node.xpath("price/text()").re_first(r"[\d.]+"),
            }
