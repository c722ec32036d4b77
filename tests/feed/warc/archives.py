"""Archives written by our writer, and read by warcio and by our reader."""

import pytest

from crawler.data import Response
from crawler.feed import WarcWriter
from crawler.feed.warc import reader
from crawler.headers import Headers

archiveiterator = pytest.importorskip("warcio.archiveiterator")

URL = "http://site.test/"
PAGE = Response(URL, 200, Headers([("Content-Type", "text/html")]), b"<p>hi</p>")


def write(path, *responses, **options):
    with WarcWriter(path, **options) as writer:
        for response in responses:
            writer(response)
    return writer


def records(path):
    """Return type, URL, first line, header fields and body of each record, read by warcio."""
    found = []
    with path.open("rb") as file:
        for record in archiveiterator.ArchiveIterator(file, check_digests="raise"):
            http = record.http_headers
            head = (f"{http.protocol} {http.statusline}", http.headers) if http else ("", [])
            uri = record.rec_headers.get_header("WARC-Target-URI")
            found.append((record.rec_type, uri, *head, record.raw_stream.read()))
    return found


def answers(path):
    found = [record.fields for record in reader.records(path.read_bytes())]
    return [fields["warc-target-uri"] for fields in found if fields["warc-type"] == "response"]


def page(path="/", body=b"", **fields):
    return Response(URL.rstrip("/") + path, 200, Headers(fields), body)
