from crawler.bench.sites.hostile_pages import PAGES, HostilePage


def test_a_page_has_about_the_size_it_should_have():
    sizes = {name: len(page.body(5000)) for name, page in PAGES.items()}

    assert {name for name, size in sizes.items() if not 5000 <= size <= 5000 + 2500} == set()


def test_repeats_are_numbered_and_two_units_share_the_page():
    page = HostilePage("<a#>", "[", "]", then="b")

    assert page.body(16) == b"[<a0><a1>bbbbbbbbb]"
