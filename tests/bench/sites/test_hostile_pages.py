import pytest

from crawler.bench.sites.hostile_pages import PAGES, HostilePage


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_about_the_size_it_should_have(name):
    assert 5000 <= len(PAGES[name].body(5000)) <= 5000 + 2500


def test_repeats_are_numbered_and_two_units_share_the_page():
    page = HostilePage("<a#>", "[", "]", then="b")

    assert page.body(16) == b"[<a0><a1>bbbbbbbbb]"
