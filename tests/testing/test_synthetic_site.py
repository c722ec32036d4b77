import re

import pytest

from crawler.testing import generated_site


@pytest.mark.parametrize(("pages", "links"), [(1, 1), (50, 1), (100, 7), (300, 10)])
def test_every_generated_page_is_reachable(pages, links):
    site = generated_site(pages=pages, links=links, size=2000)
    reached, waiting = {"/"}, ["/"]

    while waiting:
        for path in re.findall(r'href="([^"]+)"', site[waiting.pop()]):
            if path not in reached:
                reached.add(path)
                waiting.append(path)

    assert reached == set(site)
    assert len(site) == pages


def test_generated_pages_have_the_links_and_size_asked_for_every_time():
    site = generated_site(pages=40, links=9, size=13_000)

    assert {page.count("<a ") for page in site.values()} == {9}
    assert {len(page) for page in site.values()} == {13_000}
    assert site == generated_site(pages=40, links=9, size=13_000)
