import pytest

from crawler.data import Request, Response
from crawler.errors import InvalidURL
from crawler.headers import Headers
from crawler.http.redirect import is_redirect, next_hop

HOME = "http://site.test/dir/page?q=1"
SECRETS = {"Authorization": "Basic x", "Cookie": "a=b", "Proxy-Authorization": "y", "Host": "h"}


def hop(location, status=302, **fields):
    request = Request(HOME, **fields)
    return next_hop(request, Response(HOME, status, Headers({"Location": location}), b"", request))


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_the_five_statuses_with_a_location(status):
    assert is_redirect(Response(HOME, status, Headers({"LOCATION": "/"})))
    assert not is_redirect(Response(HOME, status))


@pytest.mark.parametrize("status", [200, 201, 300, 304, 305, 306, 404, 500])
def test_other_statuses_are_not(status):
    assert not is_redirect(Response(HOME, status, Headers({"location": "/"})))


@pytest.mark.parametrize(
    ("location", "url"),
    [
        ("/a", "http://site.test/a"),
        ("a", "http://site.test/dir/a"),
        ("../a", "http://site.test/a"),
        ("?q=2", "http://site.test/dir/page?q=2"),
        ("//other.test/a", "http://other.test/a"),
        ("https://site.test/a", "https://site.test/a"),
        ("", HOME),
        (" /a ", "http://site.test/a"),
        ("/a#part", "http://site.test/a"),
        ("ftp://site.test/", "ftp://site.test/"),
    ],
)
def test_a_location_is_relative_to_the_request(location, url):
    assert hop(location).url == url


def test_of_several_locations_the_first_counts():
    request = Request(HOME)
    headers = Headers([("Location", "/a"), ("Location", "/b")])

    assert next_hop(request, Response(HOME, 302, headers, b"", request)).url.endswith("/a")


def test_an_invalid_location_raises_invalid_url():
    with pytest.raises(InvalidURL):
        hop("http://[")


def test_a_hop_stays_the_same_request_with_a_longer_chain():
    request = Request(HOME, depth=3, priority=4, meta={"a": 1}, callback="parse", found_on="x")
    response = Response(HOME, 302, Headers({"location": "/a"}), b"", request)

    one = next_hop(request, response)
    two = next_hop(one, response.replace(headers=Headers({"location": "/b"})))

    assert two.id == one.id == request.id
    assert two.redirects == (HOME, "http://site.test/a")
    for name in ("depth", "priority", "meta", "callback", "found_on"):
        assert getattr(two, name) == getattr(request, name)


@pytest.mark.parametrize(
    ("status", "method", "becomes"),
    [
        (301, "GET", "GET"),
        (301, "POST", "GET"),
        (301, "PUT", "PUT"),
        (301, "HEAD", "HEAD"),
        (302, "GET", "GET"),
        (302, "POST", "GET"),
        (302, "DELETE", "DELETE"),
        (303, "GET", "GET"),
        (303, "HEAD", "HEAD"),
        (303, "POST", "GET"),
        (303, "PUT", "GET"),
        (307, "POST", "POST"),
        (308, "POST", "POST"),
        (307, "GET", "GET"),
    ],
)
def test_the_method_changes_as_browsers_change_it(status, method, becomes):
    fields = {"Content-Type": "text/plain", "Content-Length": "4", "X-Mine": "1"}

    followed = hop("/a", status, method=method, body=b"data", headers=fields)

    assert followed.method == becomes
    if becomes == method:
        assert followed.body == b"data"
        assert dict(followed.headers) == fields
    else:
        assert followed.body == b""
        assert dict(followed.headers) == {"X-Mine": "1"}


@pytest.mark.parametrize(
    "elsewhere",
    [
        "http://other.test/a",
        "https://site.test/a",
        "http://site.test:8080/a",
        "http://www.site.test/a",
        "//other.test/",
    ],
)
@pytest.mark.parametrize("status", [302, 307, 308])
def test_secrets_and_bodies_stay_behind_when_the_origin_changes(elsewhere, status):
    headers = SECRETS | {"Accept": "text/html", "Content-Type": "text/plain"}

    followed = hop(
        elsewhere, status, method="PUT", body=b"secret", headers=headers, cookies={"sid": "1"}
    )

    assert dict(followed.headers) == {"Accept": "text/html"}
    assert dict(followed.cookies) == {}
    assert followed.body == b""


@pytest.mark.parametrize("same", ["/a", "http://site.test:80/a", "http://SITE.test/a", "#x"])
def test_secrets_stay_with_their_origin(same):
    followed = hop(same, 307, method="POST", body=b"b", headers=SECRETS, cookies={"sid": "1"})

    assert dict(followed.headers) == SECRETS
    assert dict(followed.cookies) == {"sid": "1"}
    assert followed.body == b"b"


def test_repeated_header_fields_keep_their_order():
    request = Request(HOME, headers=Headers([("Accept", "1"), ("Cookie", "a"), ("Accept", "2")]))
    response = Response(HOME, 302, Headers({"location": "http://other.test/"}), b"", request)

    assert next_hop(request, response).headers.all("accept") in (["1", "2"], ["1, 2"])


@pytest.mark.parametrize(
    ("location", "url"),
    [
        ("/caf\xc3\xa9", "http://site.test/caf%C3%A9"),
        ("/caf\xe9?q=\xfc", "http://site.test/caf%E9?q=%FC"),
        ("/caf%C3%A9", "http://site.test/caf%C3%A9"),
    ],
)
def test_bytes_of_a_location_that_are_not_ascii_are_escaped_as_they_are(location, url):
    request = Request("http://site.test/")
    response = Response("http://site.test/", 302, {"Location": location}, b"", request)

    assert next_hop(request, response).url == url
