"""The pages of a generated site."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.bench.sites.shape import FEWEST_LINKS, OWN, Shape

HREF = re.compile(rb'<a href="([^"]*)"')


@settings(deadline=None)
@given(st.integers(1, 300), st.integers(FEWEST_LINKS, 100), st.booleans())
def test_every_page_can_be_reached_from_the_first(pages, links, absolute):
    shape = Shape(pages, 100, links, absolute=absolute, port=80)
    by_href = {shape.href(number).encode(): number for number in range(pages)}
    known, waiting = {0}, [0]

    while waiting:
        hrefs = HREF.findall(shape.page(waiting.pop()))
        assert len(hrefs) == links
        found = {by_href[href] for href in hrefs if href in by_href}
        waiting += found - known
        known |= found

    assert known == set(range(pages))


def test_pages_are_the_same_every_time_and_have_the_given_size():
    one, other = Shape(2000), Shape(2000)

    sizes = [len(one.page(number)) for number in range(2000)]
    assert all(one.page(number) == other.page(number) for number in range(0, 2000, 100))
    assert sum(sizes) / len(sizes) == pytest.approx(13_000, rel=0.03)
    assert min(sizes) < 6000
    assert max(sizes) > 20_000


def test_each_host_has_a_run_of_pages():
    shape = Shape(100, hosts=10, absolute=True, port=80)

    hosts = [shape.url(number).split("/")[2] for number in range(100)]

    assert hosts == sorted(hosts, key=hosts.index)
    assert len(set(hosts)) == 10
    assert all(shape.url(number).startswith(OWN) for number in range(100))


@pytest.mark.parametrize("hosts", [0, 6])
def test_a_site_needs_a_page_per_host(hosts):
    with pytest.raises(ValueError, match=f"from 1 to the 5 pages, not {hosts}"):
        Shape(5, hosts=hosts, absolute=True)


def test_too_few_links_are_refused():
    with pytest.raises(ValueError, match="links must be 31 or more, not 30"):
        Shape(5, links=30)


def test_several_hosts_need_absolute_urls():
    with pytest.raises(ValueError, match="absolute"):
        Shape(5, hosts=2)
