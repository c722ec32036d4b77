"""What params, form and json make of a request."""

import json
from urllib.parse import parse_qsl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler import Request
from crawler.request_content import with_query

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://site.test/", "http://site.test/?q=tea"),
        ("http://site.test/?a=1", "http://site.test/?a=1&q=tea"),
        ("http://site.test/?", "http://site.test/?q=tea"),
        ("http://site.test/?a=1&", "http://site.test/?a=1&q=tea"),
        ("http://site.test/#part", "http://site.test/?q=tea#part"),
    ],
)
def test_params_follow_the_query_that_a_url_has(url, expected):
    assert Request(url, params={"q": "tea"}).url == expected


def test_a_list_gives_several_fields_and_none_gives_no_field():
    request = Request("http://site.test/", params={"tag": ["a", "b"], "page": 2, "sort": None})

    assert request.url == "http://site.test/?tag=a&tag=b&page=2"


@given(st.lists(st.tuples(TEXT, TEXT)))
def test_every_pair_can_be_read_from_the_query_again(pairs):
    query = with_query("http://site.test/", pairs).partition("?")[2]

    assert parse_qsl(query, keep_blank_values=True) == pairs


def test_a_form_is_posted():
    request = Request("http://site.test/", form=[("q", "grüner Tee"), ("q", "x&y")])

    assert request.method == "POST"
    assert request.headers["Content-Type"] == "application/x-www-form-urlencoded"
    assert request.body == b"q=gr%C3%BCner+Tee&q=x%26y"


def test_json_is_posted():
    request = Request("http://site.test/", json={"name": "Tée", "ids": [1, None]})

    assert request.method == "POST"
    assert request.headers["Content-Type"] == "application/json"
    assert json.loads(request.body) == {"name": "Tée", "ids": [1, None]}


def test_another_method_and_content_type_are_kept():
    headers = {"content-type": "application/vnd.api+json", "X-Token": "t"}
    request = Request("http://site.test/", method="put", headers=headers, json=[])

    assert request.method == "PUT"
    assert dict(request.headers) == headers


def test_a_copy_may_have_another_form():
    first = Request("http://site.test/", form={"page": 1}, headers={"X-Token": "t"})
    second = first.replace(form={"page": 2})

    assert second.body == b"page=2"
    assert second.headers == first.headers
    assert second.id == first.id


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"form": {"a": 1}, "json": {}}, "either a form or json"),
        ({"json": {1, 2}}, "json must be a value that JSON can represent"),
        ({"json": float("nan")}, "json must be a value that JSON can represent"),
        ({"form": 3}, "form must be a mapping, or pairs"),
        ({"params": ["a"]}, "params must be a mapping, or pairs"),
    ],
)
def test_what_cannot_be_sent_is_refused(fields, message):
    with pytest.raises(ValueError, match=message):
        Request("http://site.test/", **fields)
