"""Functions that tests run in child processes: a contender that cheats, and one that does not end."""

import tempfile
import time
import urllib.request


def crawl_one_page(url, concurrency, **_):
    """A contender that fetches one page."""
    urllib.request.urlopen(url, timeout=120).close()


def dawdle():
    """Make a folder, and do not end in time."""
    tempfile.mkdtemp()
    time.sleep(60)
