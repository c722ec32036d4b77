from crawler import Request, Spider


class Sessions(Spider):
    def start(self):
        for visits in (1, 3):
            yield Request(
                "http://shop.test/basket",
                meta={"session": str(visits)},
                cb_kwargs={"visits": visits},
                dont_filter=True,
            )

    def parse(self, page, visits):
        count = int(page.css("p::text").get())
        yield {"session": visits, "count": count}
        if count < visits:
            yield page.request
