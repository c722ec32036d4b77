"""The example of SEP-018, with all its middlewares together."""

from crawler.middleware import (
    CallbackRules,
    CanonicalizeUrl,
    ItemIds,
    Offsite,
    RegexLinkExtractor,
    SpiderChain,
)
from crawler.testing import Site

from .chains import HOME, Spider


class Shop(Spider):
    """The example of SEP-018."""

    middlewares = [RegexLinkExtractor(), CallbackRules(), CanonicalizeUrl(), ItemIds(), Offsite()]
    allowed_domains = ["site.test"]
    url_regexes_to_follow = [r"/product\.php\?.*", r"/category\.php"]
    callback_rules = {r"/product\.php.*": "parse_product", r"/category\.php.*": "parse_category"}
    canonicalization_rules = ["sort-query-args", "normalize-percent-encoding"]
    id_field = "guid"
    id_fields_to_hash = ["supplier_name", "supplier_id"]

    def parse_product(self, response):
        return {"supplier_name": response.url, "supplier_id": 1}

    def parse_category(self, response):
        return {"supplier_name": "category", "supplier_id": 2}


def test_the_example_of_the_proposal_crawls_a_shop(crawl):
    link = '<a href="{}">.</a>'.format
    site = Site(
        {
            "/": link("/category.php") + link("/about") + link("http://other.test/product.php?x"),
            "/category.php": link("/product.php?b=2&a=1") + link("/product.php?a=1&b=2"),
            "/product.php": "a product",
        }
    )
    spider, items = Shop(), []
    chain = SpiderChain(spider.middlewares, spider)

    def parse(response):
        method = getattr(spider, response.request.callback or "parse")
        for found in chain.response(response, method):
            if isinstance(found, dict):
                items.append(found)
            yield found

    chain.open()
    summary, errors = crawl(chain.request(HOME), site, parse=parse)
    chain.close()

    assert not errors
    assert sorted(request.url for request in site.requests) == [
        HOME,
        HOME + "category.php",
        HOME + "product.php?a=1&b=2",
    ]
    assert sorted(item["supplier_name"] for item in items) == [
        "category",
        HOME + "product.php?a=1&b=2",
    ]
    assert len({item["guid"] for item in items}) == 2
    assert chain.figures["Offsite", "process_request"].drops == 1
    assert summary.urls.done == 3
