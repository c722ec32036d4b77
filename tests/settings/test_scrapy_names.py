import pytest

from crawler.settings.scrapy_names import SCRAPY_NAMES
from crawler.settings.table import find


@pytest.mark.parametrize(("theirs", "ours"), SCRAPY_NAMES.items())
def test_a_name_of_scrapy_is_answered_by_ours(theirs, ours):
    with pytest.raises(ValueError) as info:
        find(theirs)

    assert find(ours).name == ours
    assert str(info.value) == f"unknown setting {theirs!r}: it is called {ours!r} here"


def test_they_are_settings_of_scrapy():
    defaults = pytest.importorskip("scrapy.settings.default_settings")
    gone = {"CONCURRENT_REQUESTS_PER_IP"}  # in earlier versions

    assert SCRAPY_NAMES.keys() - vars(defaults).keys() <= gone
