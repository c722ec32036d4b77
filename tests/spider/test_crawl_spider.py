import pytest

from crawler import CrawlSpider, LinkExtractor, Rule, crawl
from crawler.testing import Site

PAGES = {
    "/": '<a href="/category/tea">tea</a><a href="/product/cup">cup</a><a href="/about">',
    "/category/tea": '<a href="/product/green">green</a><a href="/product/cup">cup</a>',
    "/product/cup": '<h1>Cup</h1><a href="/product/hidden">hidden</a>',
    "/product/green": "<h1>Green</h1>",
    "/product/hidden": "<h1>Hidden</h1>",
    "/about": "<h1>About</h1>",
}


class Shop(CrawlSpider):
    start_urls = ["http://site.test/"]
    settings = {"delay": 0}
    rules = [
        Rule(LinkExtractor(allow=r"/category/")),
        Rule(LinkExtractor(allow=r"/product/"), callback="parse_product", cb_kwargs={"by": "rule"}),
    ]

    def parse_product(self, page, by):
        return {"name": page.css("h1::text").get(), "by": by}


def names(spider):
    return sorted(item["name"] for item in crawl(spider, fetch=Site(PAGES)).items)


def test_links_are_followed_by_the_rules():
    result = crawl(Shop(), fetch=Site(PAGES))

    assert sorted(item["name"] for item in result.items) == ["Cup", "Green"]
    assert {item["by"] for item in result.items} == {"rule"}
    assert result.summary.urls.done == 4


def test_a_rule_with_a_callback_may_follow_too():
    class Deep(Shop):
        rules = [
            Rule(
                LinkExtractor(allow="/product/"),
                callback="parse_product",
                cb_kwargs={"by": 1},
                follow=True,
            )
        ]

    assert names(Deep()) == ["Cup", "Hidden"]


def test_start_pages_have_a_method_of_their_own():
    class Home(Shop):
        rules = ()

        def parse_start_url(self, page):
            return [{"name": "home"}]

    assert names(Home()) == ["home"]


@pytest.mark.parametrize("by_name", [True, False])
def test_links_and_requests_may_be_changed_or_dropped(by_name):
    class Choosy(Shop):
        def few(self, links):
            return [link for link in links if "cup" not in link.url]

        def mark(self, request, page):
            return None if "green" in request.url and page.url.endswith("/") else request

        rules = [
            Rule(LinkExtractor(allow="/category/"), process_request="mark"),
            Rule(
                LinkExtractor(allow="/product/"),
                callback="parse_product",
                cb_kwargs={"by": 1},
                process_links="few"
                if by_name
                else lambda links: [link.url for link in links if "cup" not in link.url],
                process_request="mark" if by_name else lambda request, page: request,
            ),
        ]

    assert names(Choosy()) == ["Green"]


def test_process_links_may_change_the_url_of_a_link():
    class Renaming(Shop):
        def renamed(self, links):
            for link in links:
                link.url = link.url.replace("hidden", "green")
                yield link

        rules = [Rule(LinkExtractor("/product/"), "parse_name", {}, True, "renamed")]

        def parse_name(self, page):
            return {"name": page.css("h1::text").get()}

    assert names(Renaming()) == ["Cup", "Green"]


def test_process_request_may_give_arguments_to_the_callback():
    class Given(Shop):
        def give(self, request, page):
            return request.replace(cb_kwargs={"by": page.url})

        rules = [
            Rule(
                LinkExtractor(allow="/product/"), "parse_product", {"by": 1}, process_request="give"
            )
        ]

    assert [item["by"] for item in crawl(Given(), fetch=Site(PAGES)).items] == ["http://site.test/"]


def test_a_job_continues_with_the_rules(tmp_path):
    first = crawl(Shop(), fetch=Site(PAGES), job=tmp_path / "job", max_pages=2)
    second = crawl(Shop(), fetch=Site(PAGES), job=tmp_path / "job")

    found = sorted(item["name"] for item in [*first.items, *second.items])
    assert found == ["Cup", "Green"]


def test_a_rule_that_names_no_method_of_the_spider_fails_its_pages():
    class Wrong(Shop):
        rules = [Rule(LinkExtractor(allow="/product/"), callback="parse_produkt")]

    result = crawl(Wrong(), fetch=Site(PAGES))

    assert "Wrong has no callback 'parse_produkt': did you mean 'parse_product'?" in str(
        result.errors[0]
    )


def test_a_rule_may_name_the_method_itself():
    class Named(Shop):
        def found(self, page):
            return {"name": page.css("h1::text").get()}

        rules = [Rule(LinkExtractor(allow="/about"), callback=found)]

    assert names(Named()) == ["About"]


def test_a_rule_may_have_a_function_that_is_no_method():
    class Short(Shop):
        rules = [Rule(LinkExtractor(allow="/about"), callback=lambda page: {"name": page.url[-6:]})]

    assert names(Short()) == ["/about"]


def test_a_parse_method_in_place_of_the_rules_is_told(caplog):
    class Replaced(Shop):
        def parse(self, page):
            yield {"name": "start"}

    assert names(Replaced()) == ["start"]
    assert "Replaced.parse() takes the place of the rules" in caplog.text
    caplog.clear()
    Shop()
    assert caplog.text == ""
