"""A secret of one origin is not sent to another, whatever redirects there."""

from base64 import b64encode
from itertools import product

import gevent.ssl
import pytest
import trustme

from crawler import CurlFetch, Request
from crawler.fetch import any_address
from crawler.middleware import Cookies, HttpAuth, HttpCache, ProxyPool
from crawler.testing import LoopbackSite, Reply

HOSTS = ("127.0.0.1", "127.0.0.2")
#: Scheme, host and port differ from one origin to the next: alone, in pairs, and all three.
ORIGINS = ("http", "http other host", "http other port", "https", "https other host")
CASES = (
    ("Authorization", "Cookie"),
    ("authorization", "cookie"),
    ("AUTHORIZATION", "COOKIE"),
    ("aUTHORIZATION", "cOOKIE"),
    ("AuthorIzation", "CookiE"),
)
#: Every way to give a secret, and the text that is then sent.
SECRETS = {
    "by hand": "hand-s3cret",
    "cookie by hand": "cookie-s3cret",
    "cookie of the jar": "jar-s3cret",
    "password": b64encode(b"user:auth-s3cret").decode(),
}
PROXY_SECRET = b64encode(b"me:proxy-s3cret").decode()


class Web:
    """Five origins on two addresses and three ports."""

    def __init__(self, plain, other, tls):
        self.sites = (plain, other, tls)
        self.origins = {
            "http": plain.url("", HOSTS[0]),
            "http other host": plain.url("", HOSTS[1]),
            "http other port": other.url("", HOSTS[0]),
            "https": tls.url("", HOSTS[0]),
            "https other host": tls.url("", HOSTS[1]),
        }

    def hits(self, path):
        """Return the head of each request for *path*, as the server received it."""
        return [
            hit.head.decode()
            for site in self.sites
            for hit in site.requests
            if hit.path.startswith(path)
        ]


@pytest.fixture(scope="module")
def authority():
    return trustme.CA()


@pytest.fixture(scope="module")
def tls(authority):
    context = gevent.ssl.SSLContext(gevent.ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*HOSTS).configure_cert(context)
    return context


@pytest.fixture
def web(stack, tls):
    def start(request):
        location = request.url.partition("?to=")[2]
        cookies = f"sid={SECRETS['cookie of the jar']}"
        return Reply(302, {"location": location, "set-cookie": cookies})

    pages = {"/start": start, "/middle": start, "/end": "there"}
    return Web(
        *(
            stack.enter_context(LoopbackSite(pages, addresses=HOSTS, tls=context))
            for context in (None, None, tls)
        )
    )


@pytest.fixture
def fetch(stack, authority, tmp_path):
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    return stack.enter_context(CurlFetch(ca_file=tmp_path / "ca.pem", allow_address=any_address))


def secrets_in(head):
    """Return the names of the secrets in *head*."""
    return {name for name, secret in SECRETS.items() if secret in head}


COMBINATIONS = [
    pytest.param(here, there, CASES[number % len(CASES)], id=f"{here} → {there}")
    for number, (here, there) in enumerate(product(ORIGINS, ORIGINS))
]


@pytest.mark.parametrize(("here", "there", "names"), COMBINATIONS)
@pytest.mark.parametrize("proxied", [False, True], ids=["direct", "by proxy"])
def test_no_secret_follows_to_another_origin(
    web, fetch, proxy, crawl, tmp_path, here, there, names, proxied
):
    origin, target = web.origins[here], web.origins[there]
    through = proxy()
    proxies = [ProxyPool([through.url("me:proxy-s3cret@")])] if proxied else []
    chain = [Cookies(), HttpAuth("user", "auth-s3cret", origin), HttpCache(tmp_path), *proxies]
    url = f"{origin}/start?to={target}/end"
    by_header = Request(
        url, headers={names[0]: SECRETS["by hand"], names[1]: f"c={SECRETS['cookie by hand']}"}
    )
    by_mapping = Request(url + "?2", cookies={"c": SECRETS["cookie by hand"]})

    summary, errors = crawl([by_header, by_mapping], fetch, *chain, domains=HOSTS, per_host=1)

    assert summary.urls.done == 2
    assert not errors
    first, second = web.hits("/end")
    if here == there:
        assert secrets_in(first) == {"by hand", "cookie by hand"}
        assert secrets_in(second) == {"password", "cookie by hand", "cookie of the jar"}
    else:
        assert secrets_in(first) == secrets_in(second) == set()
    assert secrets_in(web.hits("/start")[0]) == {"by hand", "cookie by hand"}
    assert not any(PROXY_SECRET in head for head in web.hits("/"))
    assert bool(through.heads) is proxied


@pytest.mark.parametrize("there", ORIGINS[1:])
def test_none_comes_back_on_a_detour(web, fetch, crawl, there):
    """here → there → here: a secret given by hand stays removed; one for the origin is sent."""
    origin, other = web.origins["http"], web.origins[there]
    url = f"{origin}/start?to={other}/middle?to={origin}/end"
    request = Request(url, headers={"Authorization": SECRETS["by hand"]})

    crawl(request, fetch, Cookies(), HttpAuth("user", "auth-s3cret", origin), domains=HOSTS)

    [middle], [end] = web.hits("/middle"), web.hits("/end")
    assert secrets_in(middle) == set()
    assert secrets_in(end) == {"password", "cookie of the jar"}


@pytest.mark.parametrize("there", ORIGINS[1:])
def test_none_follows_in_a_retry(web, fetch, crawl, there):
    replies = iter([Reply(503)])
    for site in web.sites:
        site.pages = {**site.pages, "/end": lambda request: next(replies, Reply(body="there"))}
    origin, other = web.origins["http"], web.origins[there]
    request = Request(
        f"{origin}/start?to={other}/end",
        headers={"authorization": SECRETS["by hand"]},
        cookies={"c": SECRETS["cookie by hand"]},
    )

    summary, _ = crawl(
        request, fetch, Cookies(), HttpAuth("user", "auth-s3cret", origin), domains=HOSTS
    )

    assert summary.urls.done == 1
    assert [secrets_in(head) for head in web.hits("/end")] == [set(), set()]


def test_a_page_that_copies_its_request_spreads_nothing(web, fetch, proxy, crawl):
    origin, other = web.origins["http"], web.origins["http other port"]
    through = proxy()
    chain = [
        Cookies(),
        HttpAuth("user", "auth-s3cret", origin),
        ProxyPool([through.url("me:proxy-s3cret@")]),
    ]

    def parse(page):
        yield page.request.replace(url=f"{other}/end?copied")

    crawl(f"{origin}/start?to={origin}/end", fetch, *chain, parse=parse, domains=HOSTS)

    [copied] = web.hits("/end?copied")
    assert secrets_in(copied) == set()
    assert PROXY_SECRET not in copied
