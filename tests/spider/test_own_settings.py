"""The settings that a spider gives: a name of Scrapy is never answered with nothing."""

import pytest

from crawler import Spider


class Sets(Spider):
    settings = {"delay": 0}


class SetsNothing(Spider):
    pass


@pytest.mark.parametrize("kind", [Sets, SetsNothing])
@pytest.mark.parametrize("method", ["get", "getint", "__getitem__"])
def test_a_name_of_scrapy_is_an_error_that_says_where_values_come_from(kind, method):
    with pytest.raises(KeyError, match=r"no 'API_KEY'.*-a name=value"):
        getattr(kind().settings, method)("API_KEY")


def test_what_the_spider_sets_is_there():
    assert Sets().settings.get("delay") == Sets().settings["delay"] == 0
    assert Sets().settings.get("depth", 3) == 3
    assert Sets.settings == {"delay": 0}
