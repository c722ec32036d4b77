import pytest

from crawler.data import Request, Response
from crawler.errors import FetchError
from crawler.fetch.request_check import check, check_proxy_reply

URL = "http://site.test/"


@pytest.mark.parametrize(
    "url",
    [
        URL,
        "https://site.test/a?b",
        "HTTPS://site.test/",
        "Http://a.b/",
        URL + "a\\b",
        "http://a.b?\\@",
    ],
)
@pytest.mark.parametrize("proxy", [None, "http://proxy.test:3128", "SOCKS5H://user:pass@a.test"])
def test_http_urls_and_known_proxies_pass(url, proxy):
    check(Request(url, proxy=proxy))


@pytest.mark.parametrize(
    "fields",
    [
        {"url": "ftp://site.test/"},
        {"url": "site.test/"},
        {"url": URL + "a\r\nX-Injected: 1"},
        {"url": URL + "\0b"},
        {"url": URL + "\u00fc\nb"},
        {"url": "http://\u00fc b/"},
        {"url": "http://site.test\\@10.0.0.1/"},
        {"url": URL, "proxy": "ftp://proxy.test/"},
        {"url": URL, "proxy": "http://proxy.test/\r\nX-Injected: 1"},
        {"url": URL, "method": "HEAD", "body": b"x"},
    ],
)
def test_what_no_server_should_receive_is_a_bad_request(fields):
    with pytest.raises(FetchError) as caught:
        check(Request(**fields))

    assert caught.value.kind == "bad_request"


def test_a_proxy_that_requires_credentials_is_a_failure_of_the_proxy():
    check_proxy_reply(Response(URL, 401))
    with pytest.raises(FetchError) as caught:
        check_proxy_reply(Response(URL, 407))

    assert caught.value.kind == "proxy"
