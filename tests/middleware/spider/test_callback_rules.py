import pytest

from crawler.data import Request
from crawler.middleware import CallbackRules

from .chains import HOME, opened, passed

RULES = {r"/product\.php": "parse_product", r"/\w+\.php": "parse_category"}


@pytest.mark.parametrize(
    ("url", "callback"),
    [("/product.php?id=1", "parse_product"), ("/category.php", "parse_category"), ("/", None)],
)
def test_the_first_rule_that_fits_chooses_the_callback(url, callback):
    chain = opened(CallbackRules, callback_rules=RULES)

    assert passed(chain, url).callback == callback
    assert chain.request(HOME + url[1:]).callback == callback


def test_a_callback_of_its_own_is_kept():
    chain = opened(CallbackRules(RULES))

    assert passed(chain, Request(HOME + "product.php", callback="parse")).callback == "parse"


@pytest.mark.parametrize("name", ["parse_prodct", "__init__", "callback_rules"])
def test_a_rule_for_no_method_of_the_spider_is_an_error_at_the_start(name):
    with pytest.raises(ValueError, match=f"Spider has no method '{name}'"):
        opened(CallbackRules, callback_rules={"/": name})
