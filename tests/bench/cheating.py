"""Functions that tests run in child processes: a contender that cheats, and one that does not end."""

import tempfile
import time
import urllib.request

from crawler.bench.sites.shape import Shape


def crawl_one_page(shape, concurrency):
    """A contender that claims to have fetched every page, and fetched one."""
    urllib.request.urlopen(Shape(**shape).url(0), timeout=5).close()
    return {"pages": shape["pages"]}


def dawdle():
    """Make a folder, and do not end in time."""
    tempfile.mkdtemp()
    time.sleep(60)
