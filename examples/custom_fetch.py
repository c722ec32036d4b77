"""A Downloader takes any function from Request to Response; this one reads files."""

import tempfile
from pathlib import Path

from crawler import (
    Analyzer,
    DataArgs,
    Downloader,
    ModuleArgs,
    Pipeline,
    RequestArgs,
    Response,
    Scheduler,
)
from crawler.spider import links

folder = Path(tempfile.mkdtemp())
(folder / "index.html").write_text("<a href=/one.html>one</a> <a href=/lost.html>lost</a>")
(folder / "one.html").write_text("<p>one</p>")


def read(request):
    path = folder / request.url.rpartition("/")[2]
    if not path.is_file():
        return Response(request.url, 404, request=request)
    return Response(request.url, 200, {"Content-Type": "text/html"}, path.read_bytes(), request)


def parse(response):
    print(response.status, response.url)
    yield from links(response)


with Scheduler() as scheduler:
    scheduler.init(
        RequestArgs(max_depth=1),
        DataArgs(),
        ModuleArgs([Downloader(read)], [Analyzer(parse)], [Pipeline()]),
    )
    scheduler.start("http://files.test/index.html")
    scheduler.join()
