"""
The bare loop: libcurl on the gevent hub, and only what a fetch or a crawl cannot do without.

It uses nothing of the package and is the lower limit of its cost: no retries, redirects, robots.txt,
politeness, limits, accounting or error handling.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urljoin

import gevent
import pycurl
from gevent import get_hub, getcurrent
from gevent.queue import SimpleQueue
from selectolax.lexbor import LexborHTMLParser

from ..sites.shape import OWN


class Curl:
    """The transfers of one hub; a greenlet waits for each."""

    def __init__(self) -> None:
        self._hub = get_hub()
        self._loop: Any = self._hub.loop
        self._watchers: dict[int, Any] = {}
        self._waiting: dict[pycurl.Curl, Any] = {}
        self._timer: Any = self._loop.timer(0)
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._watch)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._call_back)
        self._multi.setopt(pycurl.M_MAXCONNECTS, 64)

    def perform(self, easy: pycurl.Curl) -> None:
        self._waiting[easy] = getcurrent()
        self._multi.add_handle(easy)
        self._hub.switch()

    def _watch(self, events: int, fd: int, _multi: object, _data: object) -> None:
        watcher = self._watchers.pop(fd, None)
        if watcher is not None:
            watcher.close()
        if events != pycurl.POLL_REMOVE:
            watcher = self._watchers[fd] = self._loop.io(fd, events)
            watcher.start(self._advance, fd, pass_events=True)

    def _call_back(self, milliseconds: int) -> None:
        if milliseconds == 0:
            self._loop.run_callback(self._advance, 0, pycurl.SOCKET_TIMEOUT)
        elif milliseconds > 0 and not self._timer.active:
            # Only a connection that hangs needs a timer. There is none here, so one timer is enough.
            self._timer = self._loop.timer(milliseconds / 1000)
            self._timer.start(self._advance, 0, pycurl.SOCKET_TIMEOUT)

    def _advance(self, events: int, fd: int) -> None:
        _, running = self._multi.socket_action(fd, events)
        if running == len(self._waiting):
            return
        _, done, failed = self._multi.info_read()
        if failed:
            raise RuntimeError(f"a transfer failed: {failed[0][2]}")
        for easy in done:
            self._multi.remove_handle(easy)
            self._waiting.pop(easy).switch()


def getter(curl: Curl) -> Callable[[str], bytes]:
    """Return a function that fetches a URL; each worker needs its own."""
    easy, chunks = pycurl.Curl(), list[bytes]()
    easy.setopt(pycurl.NOSIGNAL, 1)
    easy.setopt(pycurl.WRITEFUNCTION, chunks.append)
    easy.setopt(pycurl.ACCEPT_ENCODING, "gzip")

    def get(url: str) -> bytes:
        easy.setopt(pycurl.URL, url)
        curl.perform(easy)
        body = b"".join(chunks)
        chunks.clear()
        return body

    return get


def crawl(url: str, concurrency: int) -> dict[str, Any]:
    """Follow every link to a page of the site."""
    curl, queue, seen = Curl(), SimpleQueue[str | None](), {url}
    queue.put(url)
    pages = 0

    def work() -> None:
        nonlocal pages
        get = getter(curl)
        while page := queue.get():
            for found in links(page, get(page)):
                if found not in seen:
                    seen.add(found)
                    queue.put(found)
            pages += 1
            if pages == len(seen):
                for _ in range(concurrency):
                    queue.put(None)

    gevent.joinall([gevent.spawn(work) for _ in range(concurrency)], raise_error=True)
    return {"pages": pages}


def links(url: str, body: bytes) -> list[str]:
    """Return the links of a page to its own site, without fragments."""
    origin = url[: url.index("/", 8)]
    found = []
    for element in LexborHTMLParser(body).tags("a"):
        href = element.attributes.get("href")
        if not href:
            continue
        if href[0] == "/" and href[1:2] != "/":
            whole = origin + href
        elif href.startswith(OWN):
            whole = href
        else:
            whole = urljoin(url, href)
            if not whole.startswith(OWN):
                continue
        found.append(whole.partition("#")[0] if "#" in whole else whole)
    return found
