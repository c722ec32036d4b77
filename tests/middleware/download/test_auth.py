from base64 import b64encode

import pytest

from crawler import Request
from crawler.middleware import HttpAuth

BASIC = "Basic " + b64encode(b"user:s3cret").decode()


def given(url, origin="https://api.test", **request):
    headers = HttpAuth("user", "s3cret", origin).before_download(Request(url, **request)).headers
    return headers.get("authorization")


@pytest.mark.parametrize(
    "url",
    ["https://api.test/", "https://api.test:443/a?b", "https://API.test/x", "https://api.test./"],
)
def test_its_origin_gets_the_credentials(url):
    assert given(url) == BASIC


@pytest.mark.parametrize(
    "url",
    [
        "http://api.test/",
        "http://api.test:443/",
        "https://api.test:8443/",
        "https://www.api.test/",
        "https://test/",
        "https://api.test.evil.test/",
        "https://evil.test/https://api.test/",
        "https://api.test@evil.test/",
        "https://evil.test/#@api.test",
    ],
)
def test_no_other_origin_does(url):
    named = "Basic " + b64encode(b"api.test:").decode()  # the user that the URL itself has

    assert given(url) in (None, named)


def test_what_a_request_has_is_left_alone():
    assert given("https://api.test/", headers={"AUTHORIZATION": "Bearer own"}) == "Bearer own"


def test_text_beyond_ascii_is_sent_as_utf8():
    auth = HttpAuth("jürgen", "пароль", "http://api.test")
    headers = auth.before_download(Request("http://api.test/")).headers

    assert headers["authorization"] == "Basic " + b64encode("jürgen:пароль".encode()).decode()


@pytest.mark.parametrize(
    "origin",
    [
        "",
        "api.test",
        "ftp://api.test",
        "https://",
        "https://api.test/path",
        "https://api.test?x",
        "https://user:hidden@api.test",
        "https:api.test",
        "https://api.test:99999",
        "https://a b.test",
        "*",
    ],
)
def test_what_is_no_origin_is_refused_without_showing_a_password(origin):
    with pytest.raises(ValueError) as caught:
        HttpAuth("user", "s3cret", origin)

    assert "s3cret" not in str(caught.value)
    assert "hidden" not in str(caught.value)


@pytest.mark.parametrize(("user", "password"), [("a:b", "c"), ("a\n", "c"), ("a", "c\0")])
def test_what_basic_cannot_say_is_refused(user, password):
    with pytest.raises(ValueError, match="no colon"):
        HttpAuth(user, password, "https://api.test")


def test_its_repr_keeps_the_secret():
    auth = HttpAuth("user", "s3cret", "https://api.test")

    assert repr(auth) == "<HttpAuth Authorization for https://api.test>"
