"""
What is fuzzed: every function that reads what strangers have written.

A target takes any bytes. It lets the exceptions pass that the functions document, and no others,
and checks what must hold of their results. Where a function has several arguments, each is a line.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress

from crawler import serialization, url
from crawler.charset import decode as decode_text
from crawler.charset import detect
from crawler.data import Request, Response
from crawler.errors import FetchError, InvalidURL
from crawler.feed import FeedError, WarcSite
from crawler.feed.warc.reader import records
from crawler.headers import Headers
from crawler.http import content_coding
from crawler.http.robots_txt import Robots
from crawler.middleware.download.cookies import Cookies
from crawler.spider import parse_news_feed, parse_sitemap
from crawler.spider.links import base_url, is_news_feed, links, title

PAGE = "http://site.test/dir/page?q=1"
#: The most CPU seconds for each 10 kB of input that has begun.
SECONDS = 0.1
_ALL_TAGS = ("a", "area", "form", "iframe", "img", "link", "object", "script", "source", "video")
_MOST_BYTES = 1 << 20


class TooSlow(Exception):
    """An input took more CPU time than its length allows."""


def repeated(data: bytes) -> bytes:
    """Return *data* repeated to 10 kB: what takes quadratic time is a repetition, as a rule."""
    return data * (10_000 // (len(data) or 10_000))


def check(name: str, data: bytes, *, allowance: float = 1.0) -> None:
    """Let the target *name* read *data*; raise TooSlow if the fastest of three runs is too slow."""
    most = allowance * SECONDS * (1 + len(data) // 10_000)
    for _ in range(3):
        began = time.process_time()
        TARGETS[name](data)
        taken = time.process_time() - began
        if taken <= most:
            return
    raise TooSlow(f"{name}: {taken:.3f} s for {len(data)} bytes, which is more than {most:.3f} s")


def _line(data: bytes) -> tuple[str, bytes]:
    """Return the first line as text, and the rest."""
    first, _, rest = data.partition(b"\n")
    return first.decode("latin-1"), rest


def _text(data: bytes) -> str:
    """Return any text, with lone surrogates in the place of invalid bytes."""
    return data.decode("utf-8", "surrogateescape")


def _response(declared: str, body: bytes) -> Response:
    headers = Headers([("content-type", declared)] if declared else [])
    return Response(PAGE, 200, headers, body)


def urls(data: bytes) -> None:
    base, _, href = _text(data).partition("\n")
    for text in (base, href):
        with suppress(InvalidURL):
            _check_url(text)
    with suppress(InvalidURL):
        _check_url(url.resolve(base, href))
    url.resolve_or_keep(PAGE, href)


def _check_url(text: str) -> None:
    key = url.canonicalize(text)
    assert url.canonicalize(key) == key, (text, key)
    url.canonicalize(text, url.Rules(sort_query=True, drop_tracking=True))
    url.scheme(text), url.port(text), url.origin(text), url.target(text)
    host = url.host(text)
    assert url.scheme(text) not in {"http", "https"} or url.registered_domain(host) in host
    url.is_address(host), url.is_public_suffix(host)


def robots(data: bytes) -> None:
    path, body = _line(data)
    rules = Robots.parse(body)
    for agent in ("crawler", "Other/1.0", ""):
        delay = rules.crawl_delay(agent)
        assert delay is None or delay >= 0
        for place in (PAGE, url.resolve_or_keep(PAGE, path)):
            with suppress(InvalidURL):
                rules.allowed(agent, place)
    assert all(isinstance(sitemap, str) for sitemap in rules.sitemaps)


def charset(data: bytes) -> None:
    declared, body = _line(data)
    name, _ = detect(body, declared)
    text = decode_text(body, declared)
    assert isinstance(text, str), name


def coding(data: bytes) -> None:
    declared, body = _line(data)
    for decode in (content_coding.decode, content_coding.decode_archived):
        with suppress(FetchError):
            assert len(decode(body, declared, _MOST_BYTES)) <= max(_MOST_BYTES, len(body))


def cookies(data: bytes) -> None:
    jar = Cookies()
    fields = [("set-cookie", line) for line in data.decode("latin-1").split("\n")]
    for place in (PAGE, "https://www.site.test/"):
        jar.after_download(Response(place, 200, Headers(fields)))
    for place in (PAGE, "https://site.test/dir/x", "http://other.test/"):
        sent = jar.before_download(Request(place)).headers.get("cookie", "")
        assert not set("\r\n\0") & set(sent), sent


def html(data: bytes) -> None:
    declared, body = _line(data)
    response = _response(declared, body)
    for found in (links(response), links(response, tags=_ALL_TAGS, nofollow=False)):
        assert all(isinstance(link, str) for link in found)
    title(response), base_url(response), is_news_feed(response)


def sitemap(data: bytes) -> None:
    found = parse_sitemap(data, max_size=1 << 16)
    for entry in found.entries:
        assert isinstance(entry.loc, str)


def news(data: bytes) -> None:
    declared, body = _line(data)
    found = parse_news_feed(body, PAGE, content_type=declared)
    for entry in found.entries:
        assert entry.link is None or isinstance(entry.link, str)


def warc(data: bytes) -> None:
    with tempfile.NamedTemporaryFile(suffix=".warc") as file, suppress(FeedError):
        file.write(data)
        file.flush()
        with WarcSite(file.name, max_body=_MOST_BYTES) as site:
            asked = [record.fields.get("warc-target-uri", "") for record in records(data)]
            for place in {PAGE, *filter(None, (url.strip("<>") for url in asked[:20]))}:
                with suppress(FetchError):
                    assert 0 <= site(Request(place)).status <= 999


def plain(data: bytes) -> None:
    """Read requests, responses and errors, as a store or a pipe has them, and write them again."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return
    for kind in ("request", "response", "error"):
        read = getattr(serialization, f"{kind}_from_dict")
        write = getattr(serialization, f"{kind}_to_dict")
        with suppress(ValueError):
            written = write(read(value))
            assert write(read(written)) == written


TARGETS: dict[str, Callable[[bytes], None]] = {
    "url": urls,
    "robots": robots,
    "charset": charset,
    "coding": coding,
    "cookies": cookies,
    "links": html,
    "sitemap": sitemap,
    "news_feed": news,
    "warc": warc,
    "serialization": plain,
}
