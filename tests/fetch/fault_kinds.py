"""Faults of servers, and the kind of the failure that each of them is."""

import gzip

from crawler.testing import End, Reply, Wire, faults

PAGE = b"<p>" + b"a page that is worth compressing " * 200
#: The size of a body that is far over the limit of 100,000 bytes once it is decoded.
BOMB = 2**21

#: The page and the kind, by name.
FAULTS = {
    "reset before a byte": (faults.reset(0), "network"),
    "reset in the head": (faults.reset(20), "network"),
    "reset in the body": (faults.reset(500), "truncated"),
    "reset before the last byte": (faults.reset(1290), "truncated"),
    "closed without a byte": (Wire(End.CLOSE), "network"),
    "shorter than its content-length": (faults.truncated(), "truncated"),
    "no last chunk": (faults.truncated_chunks(), "truncated"),
    "no status line": (faults.garbage(), "protocol"),
    "HTTP/0.9": (Wire(b"<html>hello", End.CLOSE), "protocol"),
    "two content-lengths": (
        Wire(faults.head("content-length: 2", "content-length: 3") + b"hi", End.CLOSE),
        "protocol",
    ),
    "endless body": (faults.endless_body(), "too_large"),
    "endless headers": (faults.endless_headers(), "too_large"),
    "headers over the limit": (
        Wire(faults.head(*("x-a: " + "a" * 4000,) * 20, "content-length: 0")),
        "too_large",
    ),
    "body over the limit": (b"x" * 100_001, "too_large"),
    "gzip bomb": (faults.gzip_bomb(BOMB), "too_large"),
    "gzip bomb in a redirect": (
        Reply(302, {"location": "/", "content-encoding": "gzip"}, gzip.compress(bytes(BOMB))),
        "too_large",
    ),
    "gzip in gzip bomb": (
        faults.coded(gzip.compress(gzip.compress(bytes(BOMB))), "gzip, gzip"),
        "too_large",
    ),
    "gzip cut in the middle": (faults.truncated_gzip(20), "truncated"),
    "gzip cut in its checksum": (faults.truncated_gzip(2), "truncated"),
    "gzip with a wrong checksum": (faults.corrupt_gzip(), "bad_encoding"),
    "gzip that is none": (faults.coded(PAGE), "bad_encoding"),
    "gzip and more": (faults.coded(gzip.compress(PAGE) + b"more"), "bad_encoding"),
    "deflate that is none": (faults.coded(b"\xff" * 50, "deflate"), "bad_encoding"),
    "a coding nobody asked for": (faults.coded(PAGE, "zstd"), "bad_encoding"),
    "twenty codings": (faults.coded(PAGE, ", ".join(["gzip"] * 20)), "bad_encoding"),
}
