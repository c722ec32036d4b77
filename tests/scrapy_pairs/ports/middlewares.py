from crawler import Spider
from crawler.errors import Refusal
from crawler.middleware import DownloadMiddleware, SpiderMiddleware


class Agent(DownloadMiddleware):
    def before_download(self, request):
        if "secret" in request.url:
            raise Refusal("not_for_us")
        return request.replace(headers={**request.headers, "X-Agent": "tea-bot"})

    def after_download(self, response):
        return response.replace(body=response.body.replace(b"tea", b"TEA"))


class Marked(SpiderMiddleware):
    def process_item(self, item, response, spider):
        return {**item, "from": response.url}

    def process_request(self, request, response, spider):
        return None if "/product/8" in request.url else request


class Middlewares(Spider):
    start_urls = ["http://shop.test/guarded", "http://shop.test/secret"]
    download_middlewares = [Agent]
    middlewares = [Marked]

    def parse(self, page):
        yield {"text": page.css("p::text").get()}
        if page.url.endswith("/guarded"):
            yield page.follow("/product/8.html")
            yield page.follow("/product/2.html")
