"""
Find the images below a page and save them.

    python examples/finder.py --first https://example.org/ --domains example.org --depth 1 --dir pictures
"""

import argparse
import hashlib
import os
import re
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

from selectolax.lexbor import LexborHTMLParser

from crawler import Analyzer, CurlFetch, DataArgs, Downloader, DropItem, ModuleArgs, Monitor
from crawler import Pipeline, Refused, RequestArgs, Scheduler
from crawler.spider import links
from crawler.spider.links import is_html

#: How the formats begin, whatever a server calls them.
SIGNATURES = {
    rb"\x89PNG\r\n\x1a\n": "png",
    rb"\xff\xd8\xff": "jpg",
    rb"GIF8[79]a": "gif",
    rb"RIFF....WEBP": "webp",
    rb"BM": "bmp",
    rb"\x00\x00\x01\x00": "ico",
    rb"....ftypavif": "avif",
    rb"\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)*<svg[\s>]": "svg",
}


def extension(body):
    """Return the format the first bytes tell, or None if they are not an image's."""
    known = ((re.compile(start, re.DOTALL), name) for start, name in SIGNATURES.items())
    return next((name for start, name in known if start.match(body[:1024])), None)


def find_links(response):
    """Follow links, and ask for every picture: plain, lazy, or one of a srcset."""
    yield from links(response)
    if is_html(response):
        for image in LexborHTMLParser(response.text).css("img, source"):
            found = (image.attributes.get(name) for name in ("src", "data-src"))
            yield from (src.strip() for src in found if src and not src.startswith("data:"))
            candidates = (image.attributes.get("srcset") or "").split(",")
            yield from (
                c.split()[0] for c in candidates if c.strip() and ":" not in c.split()[0][:5]
            )


def find_image(response):
    if response.status == 200 and (kind := extension(response.body)):
        yield {"url": response.url, "kind": kind, "body": response.body}


class Save:
    """Writes each picture once: under a name of its own, whole or not at all."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.saved = {}

    def __call__(self, item):
        digest = hashlib.sha256(item["body"]).hexdigest()[:12]
        if digest in self.saved:
            raise DropItem(f"the same picture as {self.saved[digest]}")
        stem = Path(unquote(urlsplit(item["url"]).path)).stem
        name = re.sub(r"[^\w-]+", "_", stem, flags=re.ASCII).strip("_")[:60] or "image"
        path = self.folder / f"{name}-{digest}.{item['kind']}"
        self.saved[digest] = path
        temporary = path.with_suffix(".part")
        temporary.write_bytes(item["body"])
        os.replace(temporary, path)
        return {"url": item["url"], "path": str(path), "bytes": len(item["body"])}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0].strip())
    parser.add_argument("--first", required=True, help="the page to begin with")
    parser.add_argument("--domains", default="", help="further domains, separated by commas")
    parser.add_argument("--depth", type=int, default=1, help="links away from the first page")
    parser.add_argument("--dir", default="pictures", help="where to save the images")
    options = parser.parse_args()
    domains = [name.strip() for name in options.domains.split(",") if name.strip()]

    def show(item):
        print(f"{item['bytes']:>9}  {item['path']}  {item['url']}")
        return item

    def progress(summary):
        print(
            f"{summary.urls.done} pages and images, {summary.urls.pending} to go", file=sys.stderr
        )

    save = Save(options.dir)
    scheduler = Scheduler()
    modules = ModuleArgs(
        downloaders=[Downloader(CurlFetch())],
        analyzers=[Analyzer(find_links, find_image)],
        pipelines=[Pipeline(save, show, fail_fast=True)],
        download_workers=4,
    )
    try:
        # A picture is one link further away than its page.
        scheduler.init(RequestArgs(domains, options.depth + 1), DataArgs(), modules)
        monitor = Monitor(
            scheduler, on_summary=progress, on_error=lambda e: print(e, file=sys.stderr)
        )
        scheduler.start(options.first)
    except (ValueError, Refused) as error:
        parser.error(str(error))
    monitor.join()
    print(f"{len(save.saved)} images in {save.folder}", file=sys.stderr)


if __name__ == "__main__":
    main()
