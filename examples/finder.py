"""Find the images below a page and save them: finder.py --first URL --depth 1 --dir pictures."""

import argparse
from crawler import Refused, Spider, crawl
from crawler.media import ImagesPipeline
from crawler.spider.links import is_html


class Finder(Spider):
    def parse(self, page):
        yield from page.links()
        tags = page.css("img, source") if is_html(page) else ()
        found = [page.urljoin(url) for tag in tags for url in urls_of(tag.attrib)]
        if found:
            yield {"page": page.url, "image_urls": found}


def urls_of(attributes):
    srcset = attributes.get("srcset", "").split(",")
    urls = (attributes.get("src"), attributes.get("data-src"), *srcset)
    return (url.split()[0] for url in urls if url and not url.startswith("data:"))


def show(item):
    for image in item["images"]:
        size = image["size"] or image["reason"]
        print(f"{size:>12}  {image['path'] or '-'}  {image['url']}")
    return item


parser = argparse.ArgumentParser(description="Find the images below a page and save them.")
parser.add_argument("--first", required=True, help="the start URL")
parser.add_argument("--depth", type=int, default=1, help="the number of links from the start URL")
parser.add_argument("--dir", default="pictures", help="where to save the images")
options = parser.parse_args()
spider = Finder(start_urls=[options.first], max_depth=options.depth)
spider.pipelines = [ImagesPipeline(options.dir, thumbs={"small": (128, 128)}), show]
try:
    crawl(spider)
except Refused as error:
    parser.error(str(error))
