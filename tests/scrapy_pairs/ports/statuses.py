from crawler import Request, Spider


class Statuses(Spider):
    handle_httpstatus_list = [404]

    def start(self):
        yield Request("http://shop.test/gone")
        yield Request("http://shop.test/old", meta={"kind": "followed"})
        yield Request("http://shop.test/old", dont_filter=True, meta={"max_redirects": 0})
        yield Request("http://shop.test/", method="HEAD", dont_filter=True)

    def parse(self, page):
        yield {
            "status": page.status,
            "url": page.url,
            "method": page.request.method,
            "to": page.headers.get("Location", ""),
            "kind": page.meta.get("kind"),
        }
