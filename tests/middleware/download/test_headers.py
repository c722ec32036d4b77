import pytest

from crawler import CurlFetch, Request
from crawler.fetch import any_address
from crawler.middleware import DefaultHeaders, Middlewares, UserAgent
from crawler.testing import Reply, Site

HOME = "http://site.test/"


def sent(middleware, request):
    return middleware.before_download(request).headers


def test_a_request_gets_what_it_has_not_and_keeps_what_it_has():
    defaults = DefaultHeaders({"Accept-Language": "en", "X-Team": "crawl"})

    headers = sent(defaults, Request(HOME, headers={"accept-LANGUAGE": "de", "X-Own": "1"}))

    assert dict(headers) == {"accept-LANGUAGE": "de", "X-Own": "1", "X-Team": "crawl"}


def test_requests_without_fields_share_one_object():
    defaults = DefaultHeaders({"X-Team": "crawl"})

    assert sent(defaults, Request(HOME)) is sent(defaults, Request(HOME + "a"))


def test_a_request_that_has_all_is_left_as_it_is():
    request = Request(HOME, headers={"x-team": "own"})

    assert DefaultHeaders({"X-Team": "crawl"}).before_download(request) is request


def test_the_user_agent_is_on_the_wire(serve):
    site = serve({"/": "home"})

    with CurlFetch(allow_address=any_address) as fetch:
        chain = Middlewares(fetch, [UserAgent("Spider/2 (+http://me.test)")])
        chain(Request(site.url()))
        chain(Request(site.url(), headers={"user-agent": "own"}))

    agents = [hit.headers.all("user-agent") for hit in site.requests]
    assert agents == [["Spider/2 (+http://me.test)"], ["own"]]


@pytest.mark.parametrize("name", ["Authorization", "cookie", "PROXY-Authorization", "Host"])
def test_a_secret_for_every_host_is_refused(name):
    with pytest.raises(ValueError, match="give the origin it is for"):
        DefaultHeaders({name: "secret"})


def test_fields_for_an_origin_go_to_no_other(crawl):
    site = Site({"/": Reply(302, {"location": "http://other.test/"}), "http://other.test/": "x"})
    token = DefaultHeaders({"Authorization": "Bearer t"}, origin="http://SITE.test:80/")

    crawl(HOME, site, token, domains=["other.test"])

    assert [request.headers.get("authorization") for request in site.requests] == ["Bearer t", None]


@pytest.mark.parametrize("field", [{"X Team": "a"}, {"X-Team": "a\r\nb"}, {"X-Team": 1}])
def test_what_is_no_field_is_refused_at_once(field):
    with pytest.raises(ValueError):
        DefaultHeaders(field)
