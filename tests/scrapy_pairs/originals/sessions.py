import scrapy


class SessionSpider(scrapy.Spider):
    name = "sessions"

    async def start(self):
        for visits in (1, 3):
            yield scrapy.Request(
                "http://shop.test/basket",
                meta={"cookiejar": visits},
                cb_kwargs={"visits": visits},
                dont_filter=True,
            )

    def parse(self, response, visits):
        count = int(response.css("p::text").get())
        yield {"session": visits, "count": count}
        if count < visits:
            yield response.request
