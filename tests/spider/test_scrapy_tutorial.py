"""The spiders of Scrapy's tutorial, with only the import changed, on test sites."""

import pytest

import crawler as scrapy
from crawler import crawl
from crawler.testing import Site

FREE = {"delay": 0, "robots": False, "retries": 1}
AUTHORS = ["Ada", "Grace", "Ada"]


def quote(n, tag):
    return (
        f'<div class="quote"><span class="text">Quote {n}</span><span>by <small class="author">'
        f'{AUTHORS[n % 3]}</small> <a href="/author/{AUTHORS[n % 3]}">(about)</a></span>'
        f'<div class="tags"><a class="tag">{tag}</a><a class="tag">life</a></div></div>'
    )


@pytest.fixture
def quotes():
    """Three pages of quotes, a tag page, and the authors."""
    pages = {
        f"/page/{p}/": "".join(
            quote(n, "humor" if n % 2 else "love") for n in range(p * 3, p * 3 + 3)
        )
        + (
            f'<ul class="pager"><li class="next"><a href="/page/{p + 1}/">Next</a></li></ul>'
            if p < 3
            else ""
        )
        for p in (1, 2, 3)
    }
    pages["/"] = pages["/page/1/"]
    pages["/tag/humor/"] = quote(1, "humor")
    for name in set(AUTHORS):
        pages[f"/author/{name}"] = (
            f'<h3 class="author-title">{name}\n</h3><span class="author-born-date">1 May</span>'
            f'<div class="author-description"> wrote </div>'
        )
    return Site(pages, base="https://quotes.toscrape.com")


class QuotesSpider(scrapy.Spider):
    name = "quotes"

    async def start(self):
        url = "https://quotes.toscrape.com/"
        tag = getattr(self, "tag", None)
        if tag is not None:
            url = url + "tag/" + tag + "/"
        yield scrapy.Request(url, self.parse)

    def parse(self, response):
        for quote in response.css("div.quote"):
            yield {
                "text": quote.css("span.text::text").get(),
                "author": quote.css("small.author::text").get(),
                "tags": quote.css("div.tags a.tag::text").getall(),
            }

        next_page = response.css("li.next a::attr(href)").get()
        if next_page is not None:
            yield response.follow(next_page, self.parse)


class AuthorSpider(scrapy.Spider):
    name = "author"
    start_urls = ["https://quotes.toscrape.com/"]

    def parse(self, response):
        author_page_links = response.css(".author + a")
        yield from response.follow_all(author_page_links, self.parse_author)

        pagination_links = response.css("li.next a")
        yield from response.follow_all(pagination_links, self.parse)

    def parse_author(self, response):
        def extract_with_css(query):
            return response.css(query).get(default="").strip()

        yield {
            "name": extract_with_css("h3.author-title::text"),
            "birthdate": extract_with_css(".author-born-date::text"),
            "bio": extract_with_css(".author-description::text"),
        }


def test_the_quotes_spider(quotes):
    items = crawl(QuotesSpider(), fetch=quotes, **FREE).items

    assert sorted({item["text"] for item in items}) == sorted(f"Quote {n}" for n in range(3, 12))
    assert len(items) == 9
    assert items[0]["tags"][-1] == "life"


def test_the_quotes_spider_with_an_argument(quotes):
    items = crawl(QuotesSpider(tag="humor"), fetch=quotes, **FREE).items

    assert [item["text"] for item in items] == ["Quote 1"]


def test_the_author_spider(quotes):
    items = crawl(AuthorSpider(), fetch=quotes, **FREE).items

    assert sorted(item["name"] for item in items) == ["Ada", "Grace"]
    assert all(item["bio"] == "wrote" for item in items)


class BooksSpider(scrapy.Spider):
    name = "books"
    allowed_domains = ["books.toscrape.com"]
    start_urls = ["https://books.toscrape.com/"]

    def parse(self, response):
        for href in response.xpath("//h3/a/@href").getall():
            yield scrapy.Request(response.urljoin(href), callback=self.parse_book)
        next_page = response.css("li.next > a::attr(href)").get()
        if next_page:
            yield scrapy.Request(response.urljoin(next_page))

    def parse_book(self, response):
        yield {
            "title": response.css("h1::text").get(),
            "price": response.css("p.price_color::text").re_first(r"[\d.]+"),
            "url": response.url,
        }


def test_the_books_spider():
    pages = {
        "/": "<h3><a href='catalogue/one/index.html'>One</a></h3>"
        "<li class='next'><a href='catalogue/page-2.html'>next</a></li>",
        "/catalogue/page-2.html": "<h3><a href='two/index.html'>Two</a></h3>"
        "<h3><a href='https://elsewhere.test/x'>ad</a></h3>",
        "/catalogue/one/index.html": "<h1>One</h1><p class='price_color'>£51.77</p>",
        "/catalogue/two/index.html": "<h1>Two</h1><p class='price_color'>£10.00</p>",
    }
    site = Site(pages, base="https://books.toscrape.com")

    result = crawl(BooksSpider(), fetch=site, **FREE)

    assert sorted((item["title"], item["price"]) for item in result.items) == [
        ("One", "51.77"),
        ("Two", "10.00"),
    ]
    assert result.summary.urls.turned_away == {"domain": 1}
