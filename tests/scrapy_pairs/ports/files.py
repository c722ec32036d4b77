from crawler import Spider
from crawler.media import FilesPipeline


def sizes(item):
    item["files"] = [
        {"url": file["url"], "size": file["size"]}
        for file in item["files"]
        if file["status"] == "downloaded"
    ]
    return item


class Files(Spider):
    start_urls = [f"http://shop.test/product/{n}.html" for n in range(1, 5)]
    pipelines = [FilesPipeline("files"), sizes]

    def parse(self, page):
        yield {
            "name": page.css("h1::text").get().strip(),
            "file_urls": [page.urljoin(page.css(".leaf::attr(href)").get())],
        }
