import copy

import pytest

from crawler.data import Request, Response
from crawler.middleware.spider.contract import HttpError, succeeded

from .chains import HOME, Spider


@pytest.mark.parametrize(
    ("status", "listed", "in_meta", "success"),
    [
        (200, (), None, True),
        (204, (), None, True),
        (299, (), None, True),
        (304, (), None, False),
        (404, (), None, False),
        (404, (404,), None, True),
        (404, (), [404], True),
        (404, (404,), [], False),
        (404, (404,), [500], False),
        (200, (), [404], True),
    ],
)
def test_success_is_2xx_and_what_the_request_or_else_the_spider_lists(
    status, listed, in_meta, success
):
    spider = Spider()
    spider.handle_httpstatus_list = listed
    meta = {} if in_meta is None else {"handle_httpstatus_list": in_meta}
    response = Response(HOME, status, request=Request(HOME, meta=meta))

    assert succeeded(response, spider) is success


def test_a_spider_without_a_list_takes_2xx():
    assert not succeeded(Response(HOME, 404), Spider())


def test_an_http_error_is_a_fetch_error_that_shows_its_page():
    error = HttpError(Response(HOME, 503, body=b"busy"))

    assert (error.kind, error.response.body) == ("http_503", b"busy")
    assert copy.copy(error).kind == "http_503"
