"""What Scrapy's own middlewares write into the meta of a response is found here too."""

import pytest

from crawler import Request, Response
from crawler.spider import Page

URL = "http://site.test/"


def page(**fields):
    return Page.of(Response(URL, 200, request=Request(URL, **fields), elapsed=0.25))


def test_facts_of_the_fetch_are_found_by_the_names_of_scrapy():
    meta = page(
        meta={"cat": "tea"}, depth=3, redirects=("http://site.test/old",), attempts=("timeout",)
    ).meta

    assert meta["cat"] == "tea"
    assert meta["depth"] == 3
    assert meta["download_latency"] == 0.25
    assert meta.get("redirect_urls") == ["http://site.test/old"]
    assert meta.get("redirect_times") == meta["retry_times"] == 1


def test_what_did_not_happen_has_no_key():
    meta = page().meta

    assert "redirect_urls" not in meta
    assert meta.get("retry_times", 0) == 0
    with pytest.raises(KeyError, match="cat"):
        meta["cat"]


def test_only_what_the_request_was_given_is_handed_on():
    meta = page(meta={"cat": "tea"}, depth=3).meta

    assert dict(meta) == {**meta} == meta.copy() == {"cat": "tea"}
    assert Request(URL, meta=meta).meta == {"cat": "tea"}
    assert "depth" not in Request(URL, meta=meta).meta


def test_the_text_of_a_link_is_not_there_and_the_error_says_what_to_do():
    meta = Page.of(Response(URL, 200)).meta

    with pytest.raises(KeyError, match=r"response\.follow"):
        meta["link_text"]
    with pytest.raises(KeyError, match=r"response\.follow"):
        meta.get("link_text")
