"""Logins as digests, to a server that checks them as RFC 7616 says."""

import hashlib
import itertools

import pytest
from requests.utils import parse_dict_header

from crawler import Request, Spider, crawl
from crawler.middleware import DigestAuth, HttpAuth, Middlewares
from crawler.testing import Reply, Site


def md5(text):
    return hashlib.md5(text.encode()).hexdigest()


class Guarded:
    """A page for *user*; each nonce is good for *uses* requests."""

    def __init__(self, user="me", password="secret", uses=100):
        self.secret = md5(f"{user}:r:{password}")
        self.uses = uses
        self.nonces = map(str, itertools.count(1))
        self.nonce, self.left = next(self.nonces), uses
        self.logins = []

    def __call__(self, request):
        login = request.headers.get("authorization", "")
        self.logins.append(login)
        given = parse_dict_header(login.removeprefix("Digest "))
        if login.startswith("Digest ") and given["nonce"] == self.nonce and self.left:
            self.left -= 1
            asked = md5(f"{request.method}:{given['uri']}")
            parts = [self.secret, self.nonce, given["nc"], given["cnonce"], "auth", asked]
            if given["response"] == md5(":".join(parts)) and request.url.endswith(given["uri"]):
                return '<a href="/two?x=1">two</a>'
        self.nonce, self.left = next(self.nonces), self.uses
        challenge = f'Digest realm="r", nonce="{self.nonce}", qop="auth"'
        return Reply(401, {"www-authenticate": challenge})


def fetching(site, password="secret", origin="http://site.test"):
    return Middlewares(site, [HttpAuth("me", password, origin), DigestAuth()])


@pytest.mark.parametrize(
    ("uses", "sent"),
    [(100, ["", "2", "2", "2"]), (1, ["", "2", "2", "3", "3", "4"])],
    ids=["kept nonce", "stale nonce"],
)
def test_the_first_request_is_sent_twice_and_others_if_the_nonce_is_stale(uses, sent):
    page = Guarded(uses=uses)
    fetch = fetching(Site({"/": page}))

    statuses = [fetch(Request("http://site.test/")).status for _ in range(3)]

    assert statuses == [200] * 3
    nonces = [
        parse_dict_header(login.removeprefix("Digest ")).get("nonce", "") for login in page.logins
    ]
    assert nonces == sent


def test_a_wrong_password_is_tried_once():
    page = Guarded()

    assert fetching(Site({"/": page}), "wrong")(Request("http://site.test/")).status == 401
    assert len(page.logins) == 2


def test_the_body_is_sent_again():
    page = Guarded()
    response = fetching(Site({"/": page}))(Request("http://site.test/", "POST", body=b"x"))

    assert response.status == 200
    assert response.request.body == b"x"


def test_the_password_is_never_sent_not_even_to_a_server_that_asks_for_it():
    logins = []

    def basic(request):
        logins.append(request.headers.get("authorization"))
        return Reply(401, {"www-authenticate": "Basic realm=x"})

    assert fetching(Site({"/": basic}))(Request("http://site.test/")).status == 401
    assert logins == [None]


def test_no_other_origin_gets_an_answer():
    here, there = Guarded(), Guarded()
    fetch = fetching(Site({"/": here, "http://other.test/": there}))
    fetch(Request("http://site.test/"))

    assert fetch(Request("http://other.test/")).status == 401
    assert there.logins == [""]


def test_a_request_without_a_login_and_one_with_another_kind_are_left_alone():
    fetch = Middlewares(Site({"/": "x"}), [DigestAuth()])
    plain = Request("http://site.test/")
    token = plain.replace(headers={"Authorization": "Bearer x"})

    assert fetch(plain).request is plain
    assert DigestAuth().before_download(token) is token


class Pages(Spider):
    settings = {"auth": "digest", "depth": 1, "delay": 0}

    def parse(self, page):
        yield {"path": page.url.rpartition("/")[2]}
        yield from page.links()


def test_a_crawl_logs_in_with_what_its_first_url_has(serve):
    home, robots = Guarded(), Guarded()
    there = serve({"/stolen": (stolen := Guarded())})
    pages = {"/": home, "/two?x=1": home, "/robots.txt": robots}
    site = serve(pages | {"/away": Reply(302, {"location": there.url("/stolen")})})
    start = site.url("/").replace("://", "://me:secret@")

    result = crawl(Pages(start_urls=[start, site.url("/away")]), robots=True)

    assert sorted(item["path"] for item in result.items) == ["", "two?x=1"]
    sent = [hit.headers.get("authorization", "") for hit in (*site.requests, *there.requests)]
    assert not [field for field in sent if "Basic" in field]
    assert set(stolen.logins) <= {""}
    assert "secret" not in str(result.summary) + str(result.errors)
