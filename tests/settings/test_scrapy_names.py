import pytest

from crawler.settings import Settings
from crawler.settings.scrapy_names import INSTEAD_OF_SETTINGS, SCRAPY_NAMES
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
    # Some have no default, and some were replaced by FEEDS.
    gone = {"FEED_FORMAT", "FEED_URI", "FILES_STORE", "IMAGES_STORE", "HTTPERROR_ALLOW_ALL"}
    gone |= {"HTTPERROR_ALLOWED_CODES"}
    assert INSTEAD_OF_SETTINGS.keys() - vars(defaults).keys() <= gone
    assert not INSTEAD_OF_SETTINGS.keys() & SCRAPY_NAMES.keys()


def test_all_names_of_a_ported_spider_are_answered_at_once():
    ported = {"DOWNLOAD_DELAY": 1, "ITEM_PIPELINES": {Settings: 300}, "LOG_LEVEL": "INFO"}

    with pytest.raises(ValueError) as info:
        Settings.load(spider=ported)

    assert str(info.value) == (
        "unknown setting 'DOWNLOAD_DELAY': it is called 'delay' here (from spider); "
        "unknown setting 'ITEM_PIPELINES': it is called 'pipelines' here (from spider); "
        "unknown setting 'LOG_LEVEL': give -L LEVEL to the command (from spider)"
    )


@pytest.mark.parametrize(
    ("given", "answer"),
    [
        ({"DOWNLOADER_MIDDLEWARES": {Settings: 5}}, "in the list download_middlewares of the"),
        ({"FILES_STORE": "files"}, 'write FilesPipeline("files")'),
        ({"MONGO_URI": "mongodb://host"}, "a value of your own is an attribute of the spider"),
        ({"pipelines": {Settings: 300}}, "go into the list pipelines of the spider"),
        ({"pipelines": [Settings]}, "go into the list pipelines of the spider"),
    ],
)
def test_what_is_no_setting_here_is_answered_by_what_to_write(given, answer):
    with pytest.raises(ValueError) as info:
        Settings.load(spider=given)

    assert answer in str(info.value)
