from itemloaders.processors import Identity, Join, MapCompose, TakeFirst

from crawler import Spider
from crawler.items import Field, Item, ItemLoader


def amount(text):
    return float(text.replace("£", ""))


class Product(Item):
    name = Field()
    price = Field(input_processor=MapCompose(amount))
    facts = Field(output_processor=Join("; "))
    urls = Field(output_processor=Identity())


class ProductLoader(ItemLoader):
    default_item_class = Product
    default_input_processor = MapCompose(str.strip)
    default_output_processor = TakeFirst()


class Loaders(Spider):
    start_urls = [f"http://shop.test/product/{n}.html" for n in (1, 2, 3)]

    def parse(self, page):
        loader = ProductLoader(response=page)
        loader.add_css("name", "h1::text")
        loader.add_xpath("price", "//p[@class='price']/text()")
        facts = loader.nested_css(".facts")
        facts.add_css("facts", "b::text")
        loader.add_value("urls", [page.url])
        loader.add_css("urls", ".leaf::attr(href)", MapCompose(page.urljoin))
        yield loader.load_item()
