from pathlib import Path

import scrapy


class Sizes:
    def process_item(self, item, spider):
        store = Path(spider.settings["FILES_STORE"])
        item["files"] = [
            {"url": file["url"], "size": (store / file["path"]).stat().st_size}
            for file in item["files"]
        ]
        return item


class FilesSpider(scrapy.Spider):
    name = "files"
    start_urls = [f"http://shop.test/product/{n}.html" for n in range(1, 5)]
    custom_settings = {
        "FILES_STORE": "files",
        "ITEM_PIPELINES": {"scrapy.pipelines.files.FilesPipeline": 1, Sizes: 2},
    }

    def parse(self, response):
        yield {
            "name": response.css("h1::text").get().strip(),
            "file_urls": [response.urljoin(response.css(".leaf::attr(href)").get())],
        }
