"""Run the spiders of a folder with Scrapy, all in one process: run_originals.py FOLDER OUTPUT."""

import logging
import sys
from importlib import util
from pathlib import Path

from scrapy import Spider
from scrapy.crawler import CrawlerProcess
from scrapy.utils.spider import iter_spider_classes


def spider_in(path: Path) -> type[Spider]:
    spec = util.spec_from_file_location(path.stem, path)
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    [spider] = iter_spider_classes(module)
    return spider


def main(folder: str, output: str) -> None:
    quiet = {"LOG_LEVEL": "ERROR", "TELNETCONSOLE_ENABLED": False, "FEEDS": {}}
    process = CrawlerProcess(quiet)
    logging.getLogger("scrapy.core.scraper").setLevel(logging.CRITICAL)  # callbacks that fail
    for path in sorted(Path(folder).glob("*.py")):
        spider = spider_in(path)
        feeds = {str(Path(output, f"{path.stem}.jsonl")): {"format": "jsonlines"}}
        spider.custom_settings = {**(spider.custom_settings or {}), "FEEDS": feeds}
        process.crawl(spider)
    process.start()


if __name__ == "__main__":
    main(*sys.argv[1:])
