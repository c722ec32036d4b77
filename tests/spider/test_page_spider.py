from crawler.data import Request
from crawler.spider import Page, PageSpider

URL = "http://site.test/page"
ORIGIN = Request(URL, depth=2, found_on="http://site.test/", redirects=("http://site.test/old",))


def test_a_page_gives_an_item_and_its_links():
    body = b"<title> A  page </title><a href=/next>next</a><a href=#top>top</a>"
    page = Page(URL, 200, {"content-type": "text/html"}, body, ORIGIN)

    item, *links = PageSpider().parse(page)

    assert item.pop("fetched_at").endswith("+00:00")
    assert item == {
        "url": URL,
        "status": 200,
        "depth": 2,
        "found_on": "http://site.test/",
        "content_type": "text/html",
        "bytes": len(body),
        "title": "A page",
        "redirects": ["http://site.test/old"],
    }
    assert links == ["http://site.test/next"]


def test_a_page_of_any_status_is_recorded():
    assert {404, 500} <= set(PageSpider.handle_httpstatus_list)

    item, *links = PageSpider().parse(Page(URL, 500, body=b"busy"))

    assert (item["status"], item["title"], links) == (500, None, [])
