import scrapy
from itemloaders.processors import Identity, Join, MapCompose, TakeFirst
from scrapy.loader import ItemLoader


def amount(text):
    return float(text.replace("£", ""))


class Product(scrapy.Item):
    name = scrapy.Field()
    price = scrapy.Field(input_processor=MapCompose(amount))
    facts = scrapy.Field(output_processor=Join("; "))
    urls = scrapy.Field(output_processor=Identity())


class ProductLoader(ItemLoader):
    default_item_class = Product
    default_input_processor = MapCompose(str.strip)
    default_output_processor = TakeFirst()


class LoaderSpider(scrapy.Spider):
    name = "loaders"
    start_urls = [f"http://shop.test/product/{n}.html" for n in (1, 2, 3)]

    def parse(self, response):
        loader = ProductLoader(response=response)
        loader.add_css("name", "h1::text")
        loader.add_xpath("price", "//p[@class='price']/text()")
        facts = loader.nested_css(".facts")
        facts.add_css("facts", "b::text")
        loader.add_value("urls", [response.url])
        loader.add_css("urls", ".leaf::attr(href)", MapCompose(response.urljoin))
        yield loader.load_item()
