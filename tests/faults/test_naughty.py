"""Difficult text of a page, in an item, in every output: no output is broken or loses it."""

import csv
import html
import json
import os
import re
import sqlite3
from xml.etree import ElementTree as ET

import gevent
import pytest
from gevent.os import make_nonblocking, nb_read
from warcio.archiveiterator import ArchiveIterator

from crawler import Spider, crawl
from crawler.data import Request, Response
from crawler.feed import Stdout, WarcSite, WarcWriter, open_feed
from crawler.report.gates import Gate
from crawler.testing import Reply, Site

from .conftest import FAST
from .naughty import NAUGHTY

csv.field_size_limit(2**30)


def repaired(text):
    """Return *text* as UTF-8 can encode it: a lone surrogate becomes U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


@pytest.fixture(scope="module")
def pages():
    """A page for each text, with the text in its title."""
    return Site(
        {
            f"/{n}": Reply(
                200,
                {"content-type": "text/html; charset=utf-8"},
                f"<title>{html.escape(repaired(text))}</title>".encode(),
            )
            for n, text in enumerate(NAUGHTY)
        }
    )


@pytest.fixture
def crawled(pages, quiet):
    """Crawl all pages into *feeds*; return the items by number."""

    def crawled(*feeds, around=lambda fetch: fetch):
        class Titles(Spider):
            start_urls = [pages.url(f"/{n}") for n in range(len(NAUGHTY))]

            def parse(self, page):
                n = int(page.url.rpartition("/")[2])
                yield {"n": n, "title": page.title, "raw": NAUGHTY[n], "list": [NAUGHTY[n]]}

        result = crawl(Titles(), fetch=around(pages), feeds=feeds, **FAST)
        assert len(result.items) == len(NAUGHTY)
        return {item["n"]: item for item in result.items}

    return crawled


def test_there_are_enough_of_them():
    assert len(set(NAUGHTY)) >= 150


def check(items, read):
    assert sorted(record["n"] for record in read) == list(range(len(NAUGHTY)))
    for record in read:
        item = items[record["n"]]
        assert record["raw"] == repaired(item["raw"])
        assert (record["title"] or "") == (item["title"] or "")


def test_json_lines(crawled, tmp_path):
    with open_feed(str(tmp_path / "out.jsonl")) as feed:
        items = crawled(feed)

    content = (tmp_path / "out.jsonl").read_bytes()
    lines = content.decode().split("\n")
    assert len(lines) == len(NAUGHTY) + 1
    assert len(content.decode().splitlines()) == len(NAUGHTY)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", content.decode().replace("\x7f", ""))
    check(items, map(json.loads, lines[:-1]))


def test_csv(crawled, tmp_path):
    with open_feed(str(tmp_path / "out.csv")) as feed:
        items = crawled(feed)

    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        read = [{**row, "n": int(row["n"])} for row in csv.DictReader(file)]
    assert len(read) == len(NAUGHTY)
    for row in read:
        raw = repaired(items[row["n"]]["raw"])
        assert row["raw"].replace("\0", "\ufffd") == raw.replace("\0", "\ufffd")


def test_sqlite(crawled, tmp_path):
    with open_feed(str(tmp_path / "out.db")) as feed:
        items = crawled(feed)

    connection = sqlite3.connect(tmp_path / "out.db")
    rows = connection.execute("SELECT n, title, raw, list FROM items").fetchall()
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
    check(items, [dict(zip(("n", "title", "raw"), row[:3], strict=True)) for row in rows])
    assert all(json.loads(row[3]) == [repaired(items[row[0]]["raw"])] for row in rows)


def test_parquet(crawled, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    with open_feed(str(tmp_path / "out.parquet")) as feed:
        items = crawled(feed)

    check(items, parquet.read_table(tmp_path / "out.parquet").to_pylist())


def _read_lines(fd, number):
    content = b""
    while content.count(b"\n") < number:
        content += nb_read(fd, 65536)
    return content


def test_stdout(crawled):
    reader, writer = os.pipe()
    make_nonblocking(reader)
    reading = gevent.spawn(_read_lines, reader, len(NAUGHTY))
    with Stdout(writer) as feed:
        items = crawled(feed)
    text = reading.get(timeout=120).decode()
    os.close(writer)
    os.close(reader)

    assert "\x1b" not in text
    assert "\x9b" not in text
    check(items, map(json.loads, text.split("\n")[:-1]))


def test_warc(crawled, pages, tmp_path):
    with WarcWriter(tmp_path / "out.warc.gz") as archive:
        crawled(around=archive.around)

    with (tmp_path / "out.warc.gz").open("rb") as file:
        bodies = {
            record.rec_headers["WARC-Target-URI"]: record.content_stream().read()
            for record in ArchiveIterator(file)
            if record.rec_type == "response"
        }
    assert len(bodies) == len(NAUGHTY)
    again = WarcSite(tmp_path / "out.warc.gz")
    for n in range(len(NAUGHTY)):
        request = Request(pages.url(f"/{n}"))
        assert bodies[request.url] == again(request).body == pages(request).body
    again.close()


def test_header_values_in_an_archive_stay_one_line_each(tmp_path):
    """Errors with the text of a server, and with that of a middleware."""
    with WarcWriter(tmp_path / "out.warc") as archive:
        for n, text in enumerate(NAUGHTY):
            request = Request(f"http://site.test/{n}")
            archive(Response(request.url, 200, {"x-naughty": text}, b"body", request))

    with (tmp_path / "out.warc").open("rb") as file:
        records = [r for r in ArchiveIterator(file) if r.rec_type == "response"]
        kinds = [
            (r.http_headers.get_statuscode(), r.http_headers.get_header("x-naughty"))
            for r in records
        ]
    assert len(kinds) == len(NAUGHTY)
    assert {status for status, _ in kinds} == {"200"}


@pytest.fixture(scope="module")
def summary():
    """URLs, reasons and errors of the crawl contain the difficult text."""

    class Nasty(Spider):
        start_urls = ["http://site.test/"]
        max_depth = None

        def parse(self, page):
            for text in NAUGHTY:
                yield "/" + text
                yield "http://" + text
            raise ValueError(NAUGHTY[40])

    return crawl(Nasty(), fetch=Site({"/": "x"}), **{**FAST, "retries": 1}).summary


def test_the_report_as_json(summary, tmp_path):
    from crawler.report.gates import write_report

    write_report(tmp_path / "report.json", summary, [Gate.parse("failed>0")])

    read = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert read["urls"]["failed"] == dict(summary.urls.failed)
    assert read["samples"].keys() == summary.samples.keys()


def test_the_report_as_junit(summary, tmp_path):
    from crawler.report.gates import write_report

    write_report(
        tmp_path / "report.xml", summary, [Gate.parse("failed>0"), Gate.parse("done<9999")]
    )

    suite = ET.parse(tmp_path / "report.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("2", "2")
