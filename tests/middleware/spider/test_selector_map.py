import subprocess
import sys

import pytest

from crawler.middleware import SelectorMap

from .chains import html, opened, xml

PRODUCT = """<h1> A <b>fine</b>
 thing </h1><p class=price>12 €</p><a class=tag href=/a>a</a><a class=tag href=/b>b</a>"""


def test_one_item_is_made_of_a_page_by_css_and_xpath():
    chain = opened(
        SelectorMap(
            {
                "name": "h1",
                "raw": "h1::text",
                "price": "//p[@class='price']/text()",
                "second": "(//a)[2]/@href",
                "tags": ["a.tag"],
                "links": ("a.tag::attr(href)",),
                "stock": ".stock",
                "sizes": [".size"],
            }
        )
    )

    assert list(chain.response(html(PRODUCT), lambda _: None)) == [
        {
            "name": "A fine thing",
            "raw": " A ",
            "price": "12 €",
            "second": "/b",
            "tags": ["a", "b"],
            "links": ["/a", "/b"],
            "stock": None,
            "sizes": [],
        }
    ]


@pytest.mark.parametrize("page", [html("<p>no product"), html(""), xml("<h1>1</h1>", "text/plain")])
def test_a_page_without_any_of_the_fields_gives_no_item(page):
    chain = opened(SelectorMap({"name": "h1", "tags": [".tag"]}))

    assert list(chain.response(page, lambda _: None)) == []


@pytest.mark.parametrize(
    "fields", [{"name": "h1["}, {"name": "//h1["}, {"name": "h1::attr(", "other": "h1"}]
)
def test_a_wrong_selector_is_an_error_at_the_start(fields):
    with pytest.raises(ValueError, match=r"name: .* is not a selector"):
        opened(SelectorMap(fields))


@pytest.mark.parametrize("fields", [{}, {"name": 5}, {"name": ["a", "b"]}, {"name": []}])
def test_fields_are_selectors_or_lists_of_one(fields):
    with pytest.raises(ValueError):
        SelectorMap(fields)


def test_parsel_is_imported_when_it_is_needed():
    script = """import sys
import crawler.middleware
from crawler.middleware.spider.selector_map import SelectorMap
SelectorMap({"a": "b"})
assert "parsel" not in sys.modules and "lxml" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", script], check=True)
