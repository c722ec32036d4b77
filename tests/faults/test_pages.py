"""Pages that are expensive to parse: each is read to its end, and its links are found."""

import random

import pytest

from crawler import Spider, crawl
from crawler.data import Response
from crawler.html_tokens import MOST_ATTRIBUTES
from crawler.spider import Page, links, title
from crawler.spider.html_limits import flatten
from crawler.spider.html_tree import tree_of
from crawler.testing import Reply, Site

from .conftest import FAST

NAMES = [f"a{n}" for n in range(50_000)]
LINK = '<a href="/found">here</a>'

BIG = {
    "nested a hundred thousand times": "<div>" * 100_000 + LINK,
    "nested in turn": "<div><b><i><table>" * 25_000 + LINK,
    "never closed": "<p><font><a>" * 50_000 + LINK,
    "an attribute of a megabyte": f'<p title="{"x" * 2**20}">{LINK}',
    "a million entities": f"<p>{'&amp;' * 1_000_000}{LINK}",
    "a million unknown entities": f"<p>{'&nosuch;' * 300_000}{LINK}",
    "a million open angles": "<" * 1_000_000 + ">" + LINK,
    "a comment that never ends, after": LINK + "<!--" * 250_000,
    "scripts that never end, after": LINK + "<script>" * 100_000,
    "fifty thousand attributes": f"<p {' '.join(NAMES)}>{LINK}",
    "fifty thousand with values": f"<p {' '.join(f'{n}=1' for n in NAMES)}>{LINK}",
    "fifty thousand with quoted angles": "<p " + '="<b>" '.join(NAMES) + f">{LINK}",
    "fifty thousand without blanks": "<p " + "='x'".join(NAMES) + f">{LINK}",
    "fifty thousand with slashes": f"<p/{'/'.join(NAMES)}>{LINK}",
    "hidden behind a comment": f'<!-- <p b=" --><p {" ".join(NAMES)} z=" ">{LINK}',
    "hidden behind a script": f"<script><p b='</script><p {' '.join(NAMES)} z=' '>{LINK}",
    "hidden behind a value": f'<p a=b=" ><p {" ".join(NAMES)} z=" ">{LINK}',
}


def page(html):
    return Response("http://site.test/", 200, {"content-type": "text/html"}, html.encode())


@pytest.mark.parametrize("name", BIG)
def test_a_big_page_is_read_and_its_link_found(name):
    assert "http://site.test/found" in list(links(page(BIG[name])))


@pytest.mark.parametrize("name", [name for name in BIG if name.startswith(("fifty", "hidden"))])
def test_no_tag_has_more_attributes_than_a_parser_can_take(name):
    widest = max(len(node.attributes) for node in tree_of(page(BIG[name])).parser.css("p"))

    assert 500 < widest <= MOST_ATTRIBUTES


def test_selectors_are_given_no_wider_tags_either():
    response = Page.of(page(BIG["fifty thousand attributes"]))

    assert len(response.xpath("//p/@*")) <= MOST_ATTRIBUTES
    assert response.css("a::attr(href)").get() == "/found"


def test_honest_pages_are_left_as_they_are():
    filler = "<p class='a' data-b=\"c > d\">text</p>" * 2000
    style = f"<img style='background:url({'A' * 60_000})'>"

    for html in (filler, filler + style, f"<!-- {' '.join(NAMES)} -->{filler}"):
        assert flatten(html) == html


@pytest.mark.parametrize("number", [50_000, pytest.param(1_000_000, marks=pytest.mark.long)])
def test_a_page_with_a_million_links_is_crawled_while_others_are(number):
    """All of its links are counted, and no other page is missing."""
    many = "".join(f"<a href=/{n}>" for n in range(number))
    site = Site({"/many": many, **{f"/other{n}": "" for n in range(50)}})
    order = []

    class All(Spider):
        start_urls = ["http://site.test/many", *(f"http://site.test/other{n}" for n in range(50))]
        max_depth = 1
        settings = {"max_pages": 60}

        def parse(self, page):
            order.append(page.url)
            yield from page.links()

    result = crawl(All(), fetch=site, **FAST)

    assert len({url for url in order if "other" in url}) == 50
    assert result.summary.urls.met == number + 51


@pytest.mark.parametrize("seed", range(20))
def test_random_bytes_said_to_be_html_are_no_error(seed):
    chance = random.Random(seed)
    body = b"<html>" + chance.randbytes(10_000)
    letters = "".join(chance.choices("<>/='\"!-& ab\x00\n", k=20_000))

    for content in (body, letters.encode()):
        response = Response("http://site.test/", 200, {"content-type": "text/html"}, content)
        list(links(response))
        title(response)


def test_the_other_pages_of_a_crawl_are_there_beside_all_big_ones(visit, serve, quiet):
    site = serve(
        {f"/big/{n}": Reply(body=html) for n, html in enumerate(BIG.values())}
        | {f"/small/{n}": "fine" for n in range(50)}
    )

    def parse(spider, page):
        yield {"url": page.url, "found": sum(1 for _ in page.links())}

    result = visit(parse, *(site.url(path) for path in site.pages), depth=0)

    assert len({item["url"] for item in result.items}) == len(site.pages)
    assert result.errors == []
