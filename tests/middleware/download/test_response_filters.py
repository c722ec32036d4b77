from contextlib import nullcontext

import pytest

from crawler import FetchError, Request
from crawler.errors import Refusal
from crawler.middleware import ContentTypes, MaxSize, Middlewares
from crawler.testing import Reply, Site

HOME = "http://site.test/"


def passes(middleware, reply, **request):
    """Return whether *reply* passes."""
    try:
        Middlewares(Site({"/": reply}), [middleware])(Request(HOME, **request))
    except Refusal:
        return False
    return True


def typed(content_type, status=200):
    return Reply(status, {"Content-Type": content_type}, "body")


@pytest.mark.parametrize(
    ("given", "passing"),
    [
        ("text/html", True),
        ("Text/HTML; charset=utf-8", True),
        (" application/xhtml+xml ;x", True),
        ("text/htmlx", False),
        ("application/pdf", False),
        ("image/png", False),
        ("nonsense", False),
        ("", True),
    ],
)
def test_allowed_types_pass(given, passing):
    assert passes(ContentTypes(["text/html", "application/*+xml"]), typed(given)) is passing


def test_an_answer_without_a_type_passes():
    assert passes(ContentTypes(["text/html"]), Reply(204))


def test_denied_types_do_not_pass_even_if_allowed():
    middleware = ContentTypes(allow=["image/*"], deny=["image/svg+xml"])

    assert passes(middleware, typed("image/png"))
    assert not passes(middleware, typed("image/svg+xml"))


def test_all_but_the_denied_pass():
    assert passes(ContentTypes(deny=["video/*"]), typed("text/html"))
    assert not passes(ContentTypes(deny=["video/*"]), typed("video/mp4"))


@pytest.mark.parametrize("status", [301, 302, 304, 404, 429, 503])
def test_what_is_no_success_is_not_judged(status):
    assert passes(ContentTypes(["image/*"]), typed("text/html", status))
    assert passes(MaxSize(0), typed("text/html", status))


@pytest.mark.parametrize("middleware", [ContentTypes(["text/html"]), MaxSize(5)])
def test_redirects_retries_and_robots_go_on_as_ever(crawl, middleware):
    replies = iter([typed("text/plain", 503)])
    site = Site(
        {
            "/robots.txt": Reply(301, {"location": "/where/robots"}),
            "/where/robots": Reply(
                200, {"content-type": "text/plain"}, "User-agent: *\nDisallow: /no"
            ),
            "/": Reply(302, {"location": "/page", "content-type": "text/plain"}, "moved away"),
            "/page": lambda request: next(replies, Reply(body="page")),
            "/no": "not for you",
        }
    )

    summary, errors = crawl([HOME, HOME + "no"], site, middleware, robots=True)

    assert summary.urls.done == 1
    assert summary.urls.refused == {"robots": 1}
    assert not errors


def test_a_refused_answer_is_counted_by_its_reason(crawl):
    site = Site(
        {"/a": typed("image/png"), "/b": Reply(body="x" * 101), "/c": Reply(body="x" * 100)}
    )

    summary, _ = crawl(
        [f"{HOME}{name}" for name in "abc"], site, ContentTypes(["text/*"]), MaxSize(100)
    )

    assert summary.urls.refused == {"content_type": 1, "size": 1}
    assert summary.urls.done == 1


@pytest.mark.parametrize(
    ("path", "fetched"),
    [
        ("/", True),
        ("/page.html", True),
        ("/page.php?file=x.zip", True),
        ("/run.pl", True),
        ("/unknown.qqq", True),
        ("/isapi.dll", True),
        ("/photo.JPG", False),
        ("/photo.jpg?size=2", False),
        ("/a.html/photo.png", False),
        ("/paper.pdf", False),
        ("/all.tar.gz", False),
        ("/robots.txt", True),
    ],
)
def test_by_extension_nothing_unwanted_is_fetched(path, fetched):
    site = Site({path: "page"})
    chain = Middlewares(site, [ContentTypes(["text/html"], by_extension=True)])

    with nullcontext() if fetched else pytest.raises(Refusal, match="content_type"):
        chain(Request(HOME[:-1] + path))

    assert len(site.requests) == fetched


@pytest.mark.parametrize(
    ("reply", "passing"),
    [
        (Reply(body="x" * 100), True),
        (Reply(body="x" * 101), False),
        (Reply(200, {"content-length": "101"}), False),
        (Reply(200, {"content-length": "1" * 500}), False),
        (Reply(200, {"content-length": "²"}), True),
        (Reply(200, {"content-length": "-1"}), True),
    ],
)
def test_size_is_what_was_announced_and_what_came(reply, passing):
    assert passes(MaxSize(100), reply) is passing


def test_a_head_is_judged_by_what_it_announces():
    assert not passes(MaxSize(100), Reply(200, {"content-length": "101"}), method="HEAD")


def test_failures_are_none_of_its_business():
    with pytest.raises(FetchError):
        passes(MaxSize(1), FetchError("too_large", "a lot"))


@pytest.mark.parametrize("types", ["text/html", ["html"], ["text/html/x"]])
def test_what_is_no_list_of_types_is_refused(types):
    with pytest.raises(ValueError):
        ContentTypes(types)


@pytest.mark.parametrize("size", [-1, 1.5, "1MB", None])
def test_what_is_no_size_is_refused(size):
    with pytest.raises(ValueError):
        MaxSize(size)
