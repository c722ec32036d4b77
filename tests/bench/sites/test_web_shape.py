"""The pages of a site like those of the web."""

import gzip
import urllib.request
from statistics import median
from unittest import mock
from urllib.parse import urljoin

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from crawler.bench.sites import nginx
from crawler.bench.sites import served_site as sites
from crawler.bench.sites.web_shape import LARGEST, SMALLEST, WebShape, path


def targets(shape, number):
    """Return where the links of a page lead to on its site."""
    url = shape.url(number)
    hrefs = (a.attributes.get("href") for a in LexborHTMLParser(shape.page(number)).css("a"))
    links = (urljoin(url, href).partition("#")[0] for href in hrefs if href)
    return {link[len(shape.origin) :] for link in links if link.startswith(shape.origin)}


@settings(deadline=None, max_examples=8)
@given(st.integers(1, 80), st.integers(0, 5))
def test_every_page_can_be_reached_from_the_first_and_every_link_leads_to_a_page(pages, seed):
    shape = WebShape(pages, seed, port=8080)
    known, waiting = {0}, [0]

    while waiting:
        found = {shape.number(target) for target in targets(shape, waiting.pop())}
        assert None not in found
        waiting += found - known
        known |= found

    assert known == set(range(pages))


def test_pages_depend_on_their_number_and_the_seed_alone():
    assert WebShape(50).page(7) == WebShape(50).page(7)
    assert WebShape(50).page(7) != WebShape(50).page(8)
    assert WebShape(50).page(7) != WebShape(50, seed=8).page(7)


def test_sizes_and_links_are_spread_as_on_the_web():
    shape = WebShape(2000, port=8080)
    pages = [shape.page(number) for number in range(600)]
    sizes = sorted(map(len, pages))

    assert SMALLEST <= sizes[0] < 8_000
    assert 25_000 < median(sizes) < 30_000
    assert 100_000 < sizes[-1] < LARGEST + 5_000
    assert 50 < median(page.count(b"<a ") for page in pages) < 90


def test_hrefs_have_all_forms():
    page = b"".join(WebShape(2000, port=8080).page(number) for number in range(50, 60))

    for form in (b'="../', b'="../../', b'="/', b'="http://127', b"&amp;lang", b"#section", b"=/"):
        assert b"href" + form in page or form in page, form


@pytest.mark.parametrize("target", ["/news/2000/amber-1.html", "/view?id=4&lang=en", "/page/1", ""])
def test_a_path_that_is_no_page_has_no_number(target):
    assert WebShape(50).number(target) is None


@pytest.mark.parametrize("server", ["own server", "nginx"])
def test_every_page_is_served_with_gzip(server):
    if server == "nginx" and not nginx.executable():
        pytest.skip("nginx is not installed")
    with (
        mock.patch.object(sites, "server_name", return_value=server),
        sites.served(WebShape(12)) as site,
    ):
        for number in range(12):
            request = urllib.request.Request(
                site.shape.origin + path(number), headers={"Accept-Encoding": "gzip"}
            )
            with urllib.request.urlopen(request, timeout=120) as answer:
                assert answer.headers["content-encoding"] == "gzip"
                assert gzip.decompress(answer.read()) == site.shape.page(number)
        assert site.counts() == (12, 12)
