"""FilesPipeline: fetches the files that items name."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, MutableMapping
from pathlib import Path
from typing import Any

from gevent.event import Event

from ..data import FOR_AN_ITEM, Request, SavedBody
from ..errors import ModuleError, Refusal, Unfinished
from ..frontier.budget import CUT_OFF
from ..item_fields import fields_of
from ..spider import Spider
from .file_index import FileIndex

log = logging.getLogger(__name__)

#: The file of a job that has the results.
INDEX = "files.db"
#: Reasons that concern the crawl and not the file: a later run of the job can have the file.
_LATER = frozenset({*CUT_OFF, "disk"})


class FilesUnfinished(Unfinished):
    """A file cannot be had before the crawl is run again, for *reason*."""

    def __init__(self, url: str, reason: str, detail: str) -> None:
        super().__init__(f"{url}: {detail}")
        self.reason = reason


class FilesPipeline:
    """
    Fetches the files whose URLs an item has in one field; another field gets the results.

        class Reports(Spider):
            pipelines = [FilesPipeline("downloads")]

            def parse(self, page):
                yield {"title": page.title, "file_urls": page.css("a::attr(href)").getall()}

    A result has *url*, *path*, *size*, *sha256*, *status* ("downloaded" or "failed") and *reason*:
    why it failed. URLs must be absolute.

    A file is fetched as any page is, with robots.txt, delays, redirects and retries; but it may be
    of any domain and at any depth, and needs to match no *include* pattern. It goes to *directory*,
    past the limits of memory, and is named by its content. A URL is fetched once in a crawl, and
    once in all runs of a job. The item is not written before all its files are there.
    """

    def __init__(
        self,
        directory: str | os.PathLike[str] = "files",
        *,
        urls_field: str = "file_urls",
        results_field: str = "files",
    ) -> None:
        self.directory = Path(directory)
        self.urls_field = urls_field
        self.results_field = results_field
        #: How many files were fetched, and how many could not be.
        self.downloaded = self.failed = 0
        #: By URL, the event that ends the fetch of a file.
        self._running: dict[str, Event] = {}

    def open_spider(self, spider: Spider) -> None:
        self._spider = spider
        job = spider.job_path
        self._index = FileIndex(job and job / INDEX, str(self.directory))
        self.downloaded = self.failed = 0

    def close_spider(self, _spider: Spider) -> None:
        self._index.close()
        if self.downloaded or self.failed:
            log.info(
                "%d files downloaded to %s, %d failed", self.downloaded, self.directory, self.failed
            )

    def process_item(self, item: Any, _spider: Spider) -> Any:
        urls = _listed((fields_of(item) or {}).get(self.urls_field), self.urls_field)
        if urls:
            _set(item, self.results_field, [self._result(url) for url in dict.fromkeys(urls)])
        return item

    def process_file(self, result: dict[str, Any]) -> dict[str, Any]:
        """Return the *result* of a file that was saved; a ValueError says why it is not wanted."""
        return result

    def _result(self, url: str) -> dict[str, Any]:
        """Return what became of *url*; only the first item that names it fetches it."""
        while (running := self._running.get(url)) is not None:
            with self._spider.waiting():
                running.wait()
        known = self._index.get(url)
        if known is not None and _is_there(known):
            return known
        self._running[url] = Event()
        try:
            result = self._fetched(url)
            self._index.add(url, result, failed=result["path"] is None)
        finally:
            self._running.pop(url).set()
        return result

    def _fetched(self, url: str) -> dict[str, Any]:
        try:
            saved = self._fetch(url)
            result = self.process_file(_downloaded(url, saved))
        except ValueError as error:
            self.failed += 1
            log.info("the file %s failed: %s", url, error)
            return _failed(url, str(error))
        self.downloaded += 1
        return result

    def _fetch(self, url: str) -> SavedBody:
        """Return the file of *url*; raise ValueError with the reason if it cannot be had."""
        try:
            request = Request(
                url, save_to=f"{self.directory}/", dont_filter=True, meta={FOR_AN_ITEM: True}
            )
        except ValueError:
            raise ValueError("invalid") from None
        try:
            page = self._spider.fetch(request)
        except Refusal as error:
            reason, detail = error.reason, str(error)
        except ModuleError as error:
            reason, detail = error.kind, error.reason
        else:
            if page.saved is not None:
                return page.saved
            reason = detail = f"http_{page.status}"
        if reason in _LATER and self._spider.job_path is not None:
            raise FilesUnfinished(url, reason, detail)
        raise ValueError(reason)


def _listed(urls: Any, field: str) -> list[str]:
    """Return the URLs of a *field*, which may have one, several or none."""
    if urls is None:
        return []
    listed = [urls] if isinstance(urls, str) else list(urls) if isinstance(urls, Iterable) else None
    if listed is None or not all(isinstance(url, str) for url in listed):
        raise ValueError(f"{field} must be a list of URLs, not {urls!r:.200}")
    return listed


def _is_there(result: dict[str, Any]) -> bool:
    """Return whether the file of *result* is where it was, or has failed."""
    return result["path"] is None or Path(result["path"]).is_file()


def _downloaded(url: str, saved: SavedBody) -> dict[str, Any]:
    file = {"path": saved.path, "size": saved.size, "sha256": saved.sha256}
    return {"url": url, **file, "status": "downloaded", "reason": None}


def _failed(url: str, reason: str) -> dict[str, Any]:
    file = dict.fromkeys(("path", "size", "sha256"))
    return {"url": url, **file, "status": "failed", "reason": reason}


def _set(item: Any, field: str, results: list[dict[str, Any]]) -> None:
    if isinstance(item, MutableMapping):
        item[field] = results
        return
    from itemadapter import ItemAdapter  # noqa: PLC0415 - few crawls have other items

    try:
        ItemAdapter(item)[field] = results
    except KeyError:
        raise ValueError(f"{type(item).__name__} needs a field {field!r} for the results") from None
