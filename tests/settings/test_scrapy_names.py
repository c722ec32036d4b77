import pytest

from crawler.settings import Settings
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


def test_all_names_of_a_ported_spider_are_answered_at_once():
    ported = {"DOWNLOAD_DELAY": 1, "ITEM_PIPELINES": {Settings: 300}, "LOG_LEVEL": "INFO"}

    with pytest.raises(ValueError) as info:
        Settings.load(spider=ported)

    assert str(info.value) == (
        "unknown setting 'DOWNLOAD_DELAY': it is called 'delay' here (from spider); "
        "unknown setting 'ITEM_PIPELINES': it is called 'pipelines' here (from spider); "
        "unknown setting 'LOG_LEVEL': `crawler settings` lists all (from spider)"
    )
