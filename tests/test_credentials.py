import pytest

from crawler import InvalidURL, Request, Response
from crawler.credentials import hide_passwords, split_credentials, without_credentials
from crawler.data import Link, with_login
from crawler.serialization import request_from_dict, request_to_dict


@pytest.mark.parametrize(
    ("url", "clean", "login"),
    [
        ("http://u:p@h/x?y#z", "http://h/x?y#z", "Basic dTpw"),
        ("http://u@h/", "http://h/", "Basic dTo="),
        ("https://:p@h:8080/", "https://h:8080/", "Basic OnA="),
        ("http://a%3Ab:c%40d@h/", "http://h/", "Basic YTpiOmNAZA=="),
        ("http://a:b@c:d@h/", "http://h/", "Basic YTpiQGM6ZA=="),
        (r"http:\\u:p@h/", "http://h/", "Basic dTpw"),
        ("http:u:p@h/", "http://h/", "Basic dTpw"),
        ("\thttp://u:p@h/", "http://h/", "Basic dTpw"),
        ("http://h/@x", "http://h/@x", None),
        ("http://h/?a=b@c", "http://h/?a=b@c", None),
        ("http://@h/", "http://@h/", None),
        ("mailto:a@b", "mailto:a@b", None),
        ("x@y/z", "x@y/z", None),
        ("http://u:p@ho st/", "http://u:p@ho st/", None),
    ],
)
def test_credentials_are_split_from_a_url(url, clean, login):
    assert split_credentials(url) == (clean, login)
    assert without_credentials(url) == clean


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("see http://u:p@h/ and ftp://a:b@c", "see http://u:…@h/ and ftp://a:…@c"),
        ("http://u:p@ss@h/", "http://u:…@h/"),
        (r"http:\\u:p@h/", r"http:\\u:…@h/"),
        ("http://h:80/ mail a@b", "http://h:80/ mail a@b"),
        ("http://u@h/", "http://u@h/"),
    ],
)
def test_passwords_are_hidden_in_text(text, shown):
    assert hide_passwords(text) == shown
    assert ":p@" not in str(InvalidURL(text))


def test_a_request_sends_them_in_a_header_field():
    request = Request("http://u:p@h/", headers={"X": "1"}, meta={"a": 1})

    assert request.url == "http://h/"
    assert dict(request.headers) == {"X": "1", "Authorization": "Basic dTpw"}
    assert request.meta["a"] == 1
    assert "u:p" not in f"{request} {request!r}"


def test_a_field_that_was_given_stays():
    request = Request("http://u:p@h/", headers={"authorization": "Bearer x"})

    assert (request.url, dict(request.headers)) == ("http://h/", {"authorization": "Bearer x"})


def test_a_stored_request_still_has_them():
    request = Request("http://u:p@h/")

    again = request_from_dict(request_to_dict(request))

    assert (again.url, again.headers) == (request.url, request.headers)


def test_a_response_does_not_have_them():
    assert Response("http://u:p@h/x", 200).url == "http://h/x"


def test_a_link_that_has_them_becomes_a_request():
    link = with_login(Link("http://u:p@h/", 3, "http://x/"))

    assert (link.url, link.depth, link.found_on) == ("http://h/", 3, "http://x/")
    assert link.headers["authorization"] == "Basic dTpw"
    plain = Link("http://h/@x", 3, "http://x/")
    assert with_login(plain) is plain
