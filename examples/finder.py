"""Find the images below a page and save them: finder.py --first URL --depth 1 --dir pictures."""

import argparse
from hashlib import sha256
from pathlib import Path
from crawler import Analyzer, CurlFetch, DataArgs, Downloader, DropItem, ModuleArgs, Pipeline
from crawler import Page, Refused, RequestArgs, Scheduler
from crawler.spider.links import is_html

#: The first bytes of each format, whatever content type the server sends.
FORMATS = {b"\x89PNG": "png", b"\xff\xd8\xff": "jpg", b"GIF8": "gif", b"\0\0\1\0": "ico"}


def find(response):
    yield from (page := Page.of(response)).links()
    for tag in page.css("img, source") if is_html(page) else ():
        srcset = tag.attrib.get("srcset", "").split(",")
        urls = (tag.attrib.get("src"), tag.attrib.get("data-src"), *srcset)
        found = (url.split()[0] for url in urls if url and not url.startswith("data:"))
        yield from map(page.urljoin, found)
    kind = next((FORMATS[start] for start in FORMATS if response.body.startswith(start)), None)
    if kind and response.status == 200:
        yield {"url": response.url, "kind": kind, "body": response.body}


def save(item):
    digest = sha256(item["body"]).hexdigest()[:12]
    if any(options.dir.glob(f"*-{digest}.*")):
        raise DropItem("the same image has been saved before")
    path = options.dir / f"{Path(item['url']).stem[:60]}-{digest}.{item['kind']}"
    path.write_bytes(item["body"])
    print(f"{len(item['body']):>9}  {path}  {item['url']}")
    return item


parser = argparse.ArgumentParser(description="Find the images below a page and save them.")
parser.add_argument("--first", required=True, help="the start URL")
parser.add_argument("--depth", type=int, default=1, help="the number of links from the start URL")
parser.add_argument("--dir", type=Path, default=Path("pictures"), help="where to save the images")
options = parser.parse_args()
options.dir.mkdir(parents=True, exist_ok=True)
modules = ModuleArgs([Downloader(CurlFetch())], [Analyzer(find)], [Pipeline(save)])
with Scheduler() as scheduler:
    # An image is one link further away than its page.
    scheduler.init(RequestArgs(max_depth=options.depth + 1), DataArgs(), modules)
    try:
        scheduler.start(options.first)
    except Refused as error:
        parser.error(str(error))
    scheduler.join()
