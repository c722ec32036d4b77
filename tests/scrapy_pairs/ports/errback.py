from crawler import Request, Spider


class Errback(Spider):
    settings = {"retries": 2, "retries.wait": 0.01}
    paths = ("/product/1.html", "/gone", "/broken", "/cut")

    def start(self):
        for path in self.paths:
            yield Request(f"http://shop.test{path}", errback=self.failed, meta={"path": path})

    def parse(self, page):
        yield {"path": page.meta["path"], "name": page.css("h1::text").get().strip()}

    def failed(self, error):
        path = error.request.meta["path"]
        if error.response is not None:
            yield {"path": path, "status": error.response.status}
            yield Request("http://shop.test/product/2.html", meta={"path": "instead"})
        else:
            yield {"path": path, "status": None}
