"""A secret of one origin is never sent to another, whatever redirects there."""

import gevent.ssl
import pytest
import trustme

from crawler import CurlFetch, Request, Spider, crawl
from crawler.fetch import any_address
from crawler.testing import LoopbackSite, Reply

from .conftest import FAST

SECRET = "s3cret-value"
CHANGES = ("scheme", "host", "port", "sub-domain", "name in another case")
#: How each secret is given, and the status of the redirect that would carry it.
SECRETS = {
    "Authorization": ({"headers": {"Authorization": f"Bearer {SECRET}"}}, 302),
    "Cookie": ({"headers": {"Cookie": f"sid={SECRET}"}}, 302),
    "Proxy-Authorization": ({"headers": {"Proxy-Authorization": f"Basic {SECRET}"}}, 307),
    "body": ({"method": "POST", "body": f"password={SECRET}"}, 307),
    "custom": ({"headers": {"X-Api-Key": SECRET}}, 308),
}


@pytest.fixture(scope="module")
def authority():
    return trustme.CA()


@pytest.fixture
def sites(authority):
    context = gevent.ssl.SSLContext(gevent.ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    pages = {"/end": "there"}
    addresses = ("127.0.0.1", "127.0.0.2")
    with (
        LoopbackSite(pages, addresses=addresses) as plain,
        LoopbackSite(pages) as other,
        LoopbackSite(pages, tls=context) as tls,
    ):
        yield {"plain": plain, "other": other, "tls": tls}


def target(sites, change):
    plain, other, tls = sites["plain"], sites["other"], sites["tls"]
    return {
        "scheme": f"https://localhost:{tls.port}/end",
        "host": f"http://127.0.0.2:{plain.port}/end",
        "port": f"http://localhost:{other.port}/end",
        "sub-domain": f"http://deep.localhost:{plain.port}/end",
        "name in another case": f"http://localhost:{other.port}/end",
    }[change]


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("change", CHANGES)
def test_no_secret_is_on_the_wire_to_another_origin(sites, authority, tmp_path, change, secret):
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    given, status = SECRETS[secret]
    if change == "name in another case":
        given = {k: odd(v) if k == "headers" else v for k, v in given.items()}
    end = target(sites, change)
    sites["plain"].pages = {
        "/start": Reply(status, {"location": end}),
        "/end": "there",
    }
    start = f"http://localhost:{sites['plain'].port}/start"

    class One(Spider):
        accepted_domains = ["localhost", "deep.localhost", "127.0.0.2"]

        def start(self):
            yield Request(start, **given)

        def parse(self, page):
            yield {"url": page.url}

    with CurlFetch(ca_file=tmp_path / "ca.pem", allow_address=any_address) as fetch:
        result = crawl(One(), fetch=fetch, **FAST)

    assert [item["url"] for item in result.items] == [end]
    hits = [hit for site in sites.values() for hit in site.requests]
    sent = {hit.path: hit.head + hit.body for hit in hits}
    assert SECRET.encode() in sent["/start"]
    assert SECRET.encode() not in sent["/end"]


def odd(headers):
    return {name.swapcase(): value for name, value in headers.items()}


def test_within_one_origin_they_go_along(sites):
    sites["plain"].pages = {
        "/start": Reply(307, {"location": "/end"}),
        "/end": "there",
    }
    url = f"http://localhost:{sites['plain'].port}/start"
    headers = {"Authorization": SECRET, "X-Api-Key": SECRET}

    class One(Spider):
        def start(self):
            yield Request(url, "POST", headers=headers, body=SECRET)

    crawl(One(), allow_private=True, robots=False)

    [_, end] = sites["plain"].requests
    assert (end.head + b"\r\n\r\n" + end.body).count(SECRET.encode()) == 3
