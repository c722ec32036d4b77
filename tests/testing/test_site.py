import time

import pytest

from crawler import Request
from crawler.testing import Reply, Site, faults


def test_a_site_answers_from_its_dict():
    site = Site(
        {"/": "<h1>Grüße</h1>", "/bytes": b"\xff", "/busy": Reply(503, {"Retry-After": "1"})}
    )

    home = site(Request("http://site.test/"))
    busy = site(Request("http://site.test/busy"))

    assert (home.status, home.text) == (200, "<h1>Grüße</h1>")
    assert home.headers["content-type"] == "text/html; charset=utf-8"
    assert site(Request("http://site.test/bytes")).body == b"\xff"
    assert (busy.status, busy.headers["retry-after"], busy.body) == (503, "1", b"")


def test_a_missing_page_is_a_404():
    site = Site({"/": "home"})

    assert site(Request(site.url("/missing"))).status == 404
    assert site(Request("http://elsewhere.test/")).status == 404


def test_a_site_may_have_several_hosts():
    site = Site({"/": "home", "http://other.test/": "other"})

    assert site(Request("http://other.test/")).body == b"other"


def test_a_page_with_a_query_is_found_with_it_or_without():
    site = Site({"/list": "all", "/list?page=2": "second"})

    assert site(Request(site.url("/list?page=2"))).body == b"second"
    assert site(Request(site.url("/list?page=3#top"))).body == b"all"


def test_a_page_may_be_an_exception_or_a_function():
    site = Site(
        {"/fails": KeyError("x"), "/also": KeyError, "/echo": lambda r: Reply(201, body=r.method)}
    )

    for path in ("/fails", "/also"):
        with pytest.raises(KeyError):
            site(Request(site.url(path)))
    assert site(Request(site.url("/echo"), "PUT")).body == b"PUT"
    assert [request.url for request in site.requests] == [
        site.url(p) for p in ("/fails", "/also", "/echo")
    ]


def test_a_delay_is_waited_for():
    site = Site({"/": Reply(delay=0.05)})
    began = time.monotonic()

    site(Request(site.url()))

    assert time.monotonic() - began >= 0.05


def test_a_site_without_a_wire_breaks_none():
    with pytest.raises(TypeError, match="LoopbackSite"):
        Site({"/": faults.silence()})(Request("http://site.test/"))
