"""Every way in which a page can be bad, and the outcomes it may have."""

import gzip
import random
import zlib

import brotli

from crawler.testing import End, Reply, Wire, faults

PAGE = b"<html><title>fine</title>" + b"a page that is worth compressing " * 50
ZIPPED = gzip.compress(PAGE)
HALF = len(PAGE) // 2
#: The size of a body that is far over the limit of 200,000 bytes once it is decoded.
BOMB = 2**21

#: A bad page is fetched anyway, or fails for one of these reasons.
BROKEN = {"truncated", "protocol", "network"}
DONE = {"done"}


def to(*locations, status="302 Found"):
    return Wire(
        faults.head(*(f"location: {where}" for where in locations), "content-length: 0").replace(
            b"200 OK", status.encode(), 1
        )
    )


def text(body, content_type="text/html; charset=utf-8"):
    return Reply(headers={"content-type": content_type}, body=body)


#: The page and its possible outcomes, by name.
KINDS = {
    # the connection
    "reset at once": (faults.reset(0), {"network"}),
    "reset after a byte": (faults.reset(1), {"network"}),
    "reset in the head": (faults.reset(30), {"network"}),
    "reset in the body": (faults.reset(400), {"truncated"}),
    "reset before the last byte": (faults.reset(1290), {"truncated"}),
    "closed without a word": (Wire(End.CLOSE), {"network"}),
    "closed after a whole page": (faults.closing(), DONE),
    "silence": (faults.silence(), {"timeout"}),
    "slow headers": (faults.drip_headers(0.05), {"timeout"}),
    "slow body": (faults.drip(every=0.05), {"timeout"}),
    # sizes
    "endless body": (faults.endless_body(), {"too_large"}),
    "endless headers": (faults.endless_headers(), {"too_large"}),
    "endless header line": (faults.endless_header_line(), {"too_large"}),
    "a hundred thousand headers": (faults.many_headers(), {"too_large"}),
    "a header line of a megabyte": (
        Wire(faults.head("x-a: " + "a" * 2**20, "content-length: 0")),
        {"too_large"},
    ),
    # the length
    "length too long": (faults.truncated(), {"truncated"}),
    "length too short": (faults.sized("3"), DONE),
    "negative length": (faults.sized("-5"), BROKEN | DONE),
    "huge length": (faults.sized("9" * 30), BROKEN | {"too_large"}),
    "two lengths": (faults.sized("5\r\ncontent-length: 6"), {"protocol"}),
    "length in words": (faults.sized("five"), BROKEN | DONE),
    # chunks
    "chunk without a size": (faults.broken_chunks(), BROKEN),
    "chunk of a size beyond all": (faults.chunked(b"f" * 40 + b"\r\nhello"), BROKEN),
    "no last chunk": (faults.truncated_chunks(), {"truncated"}),
    "NUL in a trailer": (faults.chunked(b"2\r\nok\r\n0\r\nx: \x00\r\n\r\n"), BROKEN | DONE),
    "chunks and a length": (
        faults.chunked(b"2\r\nok\r\n0\r\n\r\n", "content-length: 4"),
        BROKEN | DONE,
    ),
    "a second answer nobody asked for": (faults.smuggled(), DONE),
    # codings
    "gzip cut short": (faults.truncated_gzip(), {"truncated"}),
    "gzip with a wrong sum": (faults.corrupt_gzip(), {"bad_encoding"}),
    "gzip that is none": (faults.coded(PAGE), {"bad_encoding"}),
    "gzip and more": (faults.coded(ZIPPED + b"more"), {"bad_encoding"}),
    "gzip twice, declared once": (faults.coded(gzip.compress(ZIPPED)), DONE),
    "deflate that is none": (faults.coded(b"\xff" * 50, "deflate"), {"bad_encoding"}),
    "deflate cut short": (
        faults.coded(zlib.compress(PAGE)[:-20], "deflate"),
        {"truncated", "bad_encoding"},
    ),
    "brotli cut short": (
        faults.coded(brotli.compress(PAGE)[:-5], "br"),
        {"truncated", "bad_encoding"},
    ),
    "brotli that is none": (faults.coded(PAGE, "br"), {"bad_encoding"}),
    "zstd nobody asked for": (faults.coded(PAGE, "zstd"), {"bad_encoding"}),
    "twenty codings": (faults.coded(PAGE, ", ".join(["gzip"] * 20)), {"bad_encoding"}),
    "gzip bomb": (faults.gzip_bomb(BOMB), {"too_large"}),
    "brotli bomb": (faults.coded(brotli.compress(bytes(BOMB), quality=5), "br"), {"too_large"}),
    "gzip bomb in a redirect": (
        Reply(302, {"location": "/", "content-encoding": "gzip"}, gzip.compress(bytes(BOMB))),
        {"too_large"},
    ),
    # redirects
    "redirect to itself": (lambda r: Reply(302, {"location": r.url}), {"redirect_loop"}),
    "redirect there and back": (
        lambda r: Reply(302, {"location": r.url.partition("?")[0] + "?there" * ("?" not in r.url)}),
        {"redirect_loop"},
    ),
    "redirect to ever new places": (faults.ever_new, {"redirect_limit"}),
    "redirect to nowhere": (to(""), {"done", "redirect_loop"}),
    "redirect without a place": (to(), DONE | {"http_302"}),
    "redirect to two places": (to("/", "/page/1"), {"seen", "protocol"}),
    "redirect to a file": (to("file:///etc/passwd"), {"scheme"}),
    "redirect to data": (to("data:text/html,<h1>hello"), {"scheme"}),
    "redirect to no URL": (to("http://[half"), {"invalid"}),
    # status lines
    "no HTTP": (faults.garbage(), BROKEN),
    "HTTP/0.9": (Wire(b"<html>hello", End.CLOSE), {"protocol"}),
    "status 99999": (faults.status_line("HTTP/1.1 99999 Huge"), BROKEN | {"http_999"}),
    "status in words": (faults.status_line("HTTP/1.1 OK"), BROKEN),
    "HTTP/9.9": (faults.status_line("HTTP/9.9 200 OK"), BROKEN),
    "a flood of 103": (faults.informational_flood(), {"too_large", "timeout", "protocol"}),
    "204 with a body": (
        Wire(faults.head("content-length: 5", status="204 No Content") + b"hello", End.CLOSE),
        DONE,
    ),
    # statuses
    "429 until tomorrow": (Reply(429, {"retry-after": "86400"}), {"http_429"}),
    "503 until whenever": (Reply(503, {"retry-after": "soon, we hope"}), {"http_503"}),
    "500 for ever": (Reply(500), {"http_500"}),
    "404": (Reply(404), {"http_404"}),
    # content
    "a charset that does not exist": (text(PAGE, "text/html; charset=no-such"), DONE),
    "a charset that lies": (text("Grüße".encode("latin-1") * 9), DONE),
    "a byte order mark that differs": (text(b"\xff\xfe" + PAGE), DONE),
    "NUL bytes": (text(b"<title>\x00a\x00</title>" * 9), DONE),
    "random bytes": (text(random.Random(1).randbytes(5000)), DONE),
    "empty": (text(b""), DONE),
    "an image that is said to be text": (text(b"\x89PNG\r\n\x1a\n" + bytes(200)), DONE),
    "bad links": (
        text("<a href='javascript:x()'><a href='http:///'><a href='//['><a href='\\\\\\\\'>"),
        DONE,
    ),
    "deeply nested": (text("<div>" * 20_000), DONE),
}
