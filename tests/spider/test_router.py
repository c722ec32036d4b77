import pytest

from crawler import crawl
from crawler.spider import Router
from crawler.testing import Site

FREE = {"delay": 0, "robots": False, "retries": 1}


def test_a_router_is_a_spider_of_functions():
    app = Router("http://site.test/")

    @app.page(r"/product/")
    def product(page):
        yield {"product": page.title}

    @app.page()
    def everything_else(page):
        yield from page.links()

    @app.error
    def failed(error):
        yield {"kind": error.kind}

    site = Site(
        {
            "/": "<a href=/product/1>1</a><a href=/gone>gone</a>",
            "/product/1": "<title>One</title>",
        }
    )

    items = crawl(app, fetch=site, **FREE).items

    assert sorted(map(str, items)) == ["{'kind': 'http_404'}", "{'product': 'One'}"]
    assert app.routes == ["/product/ → product", "everything → everything_else"]


def test_a_pattern_that_is_none_is_an_error_where_it_stands():
    with pytest.raises(Exception, match="unterminated"):
        Router().page("(")
