"""Make the pictures of docs/portal.md from a real crawl: python docs/screenshots.py."""

from gevent import monkey

monkey.patch_all()

import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import gevent
from playwright.sync_api import sync_playwright

from crawler.portal.portal_server import Portal
from crawler.testing import LoopbackSite, Reply

IMAGES = Path(__file__).parent / "images"
PAGES = 2000
SPIDER = """
from crawler import Spider

class Books(Spider):
    name = "books"
    start_urls = [{urls}]

    def parse(self, response):
        number = int(response.url.rpartition("/")[2] or 0)
        if number % 41 == 7:
            raise ValueError(f"no price on the page of book {{number}}")
        yield {{"title": response.title, "price": 5 + number % 40, "url": response.url}}
        yield from response.links()
"""


def page(number):
    def answer(_):
        gevent.sleep(random.expovariate(12))
        links = "".join(f'<a href="/{(number * 7 + n) % PAGES}">x</a>' for n in range(9))
        return f"<title>Book {number}</title>{links}"

    return Reply(404) if number % 53 == 52 else answer


def screenshots(url):
    """Photograph the live page at *url*: light, dark and narrow."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox"]
        )
        for scheme, width in (("light", 1100), ("dark", 1100), ("light", 390)):
            tab = browser.new_page(color_scheme=scheme, viewport={"width": width, "height": 1180})
            tab.goto(url)
            path = IMAGES / f"live-{scheme}-{width}.jpg"
            tab.screenshot(path=path, type="jpeg", quality=55)
        browser.close()


def portal_screenshots(spiders):
    """Set up a portal, run a task in it, and photograph the run and the task."""
    portal = Portal(Path(spiders) / "portal", Path(spiders))
    portal.start()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox"]
        )
        tab = browser.new_page(viewport={"width": 1100, "height": 760})
        tab.goto(portal.first_url)
        tab.get_by_label("Name").fill("anna")
        tab.get_by_label("Password").fill("a long password")
        tab.get_by_role("button", name="Begin").click()
        tab.goto(f"{portal.url}tasks/new")
        tab.get_by_label("Name").fill("books-nightly")
        tab.get_by_label("Spider").select_option("books.py:Books")
        tab.get_by_label("Settings").fill("delay=0.1\nrobots=false\ndepth=99\nmax_pages=150")
        tab.get_by_label("Cron").fill("30 2 * * 1-5")
        tab.get_by_role("button", name="Save").click()
        task = tab.url
        for _ in range(4):
            tab.goto(task)
            tab.get_by_role("button", name="Run now").click()
            tab.get_by_text("running", exact=True).wait_for(timeout=60_000)
            gevent.sleep(8)
            tab.screenshot(path=IMAGES / "portal-run.jpg", type="jpeg", quality=55)
            tab.get_by_role("button", name="Resume this job").wait_for(timeout=120_000)
        tab.goto(task)
        tab.screenshot(path=IMAGES / "portal-task.jpg", type="jpeg", quality=55)
        browser.close()
    portal.stop()


def main():
    IMAGES.mkdir(exist_ok=True)
    pages = {f"/{number}": page(number) for number in range(PAGES)} | {"/": page(1)}
    addresses = ("127.0.0.1", "127.0.0.2", "127.0.0.3")
    with LoopbackSite(pages, addresses=addresses) as site, tempfile.TemporaryDirectory() as folder:
        urls = ", ".join(repr(site.url("/", address)) for address in addresses)
        (Path(folder) / "books.py").write_text(SPIDER.format(urls=urls))
        command = [sys.executable, "-m", "crawler", "run", "books.py", "-O", "books.jsonl"]
        command += ["-s", "delay=0.1", "-s", "depth=99", "-s", "robots=false", "--live"]
        crawl = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True)
        line = next(line for line in crawl.stderr if "live page" in line)
        gevent.sleep(45)
        screenshots(re.search(r"http\S+", line)[0])
        crawl.terminate()
        crawl.communicate(timeout=30)
        portal_screenshots(folder)


if __name__ == "__main__":
    main()
