from scrapy.spiders import XMLFeedSpider


class PricesSpider(XMLFeedSpider):
    name = "prices"
    start_urls = ["http://shop.test/prices.xml"]
    itertag = "tea"

    def parse_node(self, response, node):
        yield {
            "id": int(node.xpath("@id").get()),
            "name": node.xpath("name/text()").get(),
            "price": node.xpath("price/text()").re_first(r"[\d.]+"),
        }
