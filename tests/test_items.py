import json
from dataclasses import dataclass

import pytest
from itemadapter import ItemAdapter
from itemloaders.processors import Join, MapCompose, TakeFirst

from crawler import Response, Spider, crawl
from crawler.items import Field, Item, ItemLoader
from crawler.spider import Page
from crawler.testing import Site

HTML = "<h1> A cup </h1><p>of</p><p>tea</p><b>1.50</b>"


class Product(Item):
    name = Field(input_processor=MapCompose(str.strip), output_processor=TakeFirst())
    about = Field(output_processor=Join())


class Priced(Product):
    price = Field()


class ProductLoader(ItemLoader):
    default_output_processor = TakeFirst()
    price_in = MapCompose(float)


def page():
    return Page.of(Response("http://site.test/", 200, {"Content-Type": "text/html"}, HTML))


def load(item):
    loader = ProductLoader(item, response=page())
    loader.add_css("name", "h1::text")
    loader.add_xpath("about", "//p/text()")
    loader.add_css("price", "b::text")
    return loader.load_item()


def test_an_item_has_the_fields_of_its_class_and_its_parents():
    item = Priced(name="cup")
    item["price"] = 2

    assert dict(item) == {"name": "cup", "price": 2}
    assert list(Priced.fields) == ["name", "about", "price"]
    assert repr(item) == "Priced({'name': 'cup', 'price': 2})"
    del item["price"]
    assert "price" not in item


def test_another_field_is_refused_by_name():
    with pytest.raises(KeyError, match="Product has no field 'prize'; it has name, about"):
        Product(prize=3)


def test_a_loader_uses_the_processors_of_the_fields_and_of_its_own():
    assert dict(load(Priced())) == {"name": "A cup", "about": "of tea", "price": 1.5}


def test_a_loader_fills_dicts_and_dataclasses_too():
    @dataclass
    class Plain:
        name: str | None = None
        about: str | None = None
        price: float | None = None

    assert load(Plain()) == Plain(" A cup ", "of", 1.5)
    assert load({}) == {"name": " A cup ", "about": "of", "price": 1.5}


def test_itemadapter_knows_the_fields():
    adapter = ItemAdapter(Priced(name="cup"))
    adapter["price"] = 1

    assert list(adapter.field_names()) == ["name", "about", "price"]
    assert adapter.asdict() == {"name": "cup", "price": 1}
    assert len(adapter) == 2


def test_items_are_written_like_mappings(tmp_path):
    class Shop(Spider):
        start_urls = ["http://site.test/"]
        settings = {"delay": 0}

        def parse(self, response):
            loader = ProductLoader(Priced(), response=response)
            loader.add_css("name", "h1::text")
            return loader.load_item()

    from crawler.feed import open_feed

    with open_feed(str(tmp_path / "items.jsonl")) as feed:
        crawl(Shop(), fetch=Site({"/": HTML}), feeds=[feed])

    assert json.loads((tmp_path / "items.jsonl").read_text()) == {"name": "A cup"}
