import pytest

from crawler import FormRequest, JsonRequest, Request, Response
from crawler.spider import Page

FORMS = """<form name=search action=/search><input name=q></form>
<form id='log"in' action=/login method=post><input type=hidden name=token value=t><input name=user>
<button name=go value=in>in</button><button name=go value=out>out</button></form>"""


@pytest.fixture
def page():
    return Page.of(
        Response("http://site.test/", 200, {"Content-Type": "text/html"}, FORMS.encode())
    )


def test_the_fields_of_a_form_are_the_body():
    request = FormRequest("http://site.test/", "found", formdata={"q": "tea"}, priority=3)

    assert request == Request(
        "http://site.test/", callback="found", form={"q": "tea"}, priority=3, id=request.id
    )


def test_the_fields_of_a_form_that_is_sent_by_get_are_the_query():
    request = FormRequest("http://site.test/?a=1", method="GET", formdata=[("q", "tea")])

    assert (request.method, request.url) == ("GET", "http://site.test/?a=1&q=tea")


def test_a_form_request_without_fields_is_a_usual_request():
    assert FormRequest("http://site.test/").method == "GET"


@pytest.mark.parametrize(
    ("choice", "url", "body"),
    [
        ({}, "http://site.test/search?q=tea", b""),
        ({"formname": "search"}, "http://site.test/search?q=tea", b""),
        ({"formid": 'log"in'}, "http://site.test/login", b"token=t&user=&q=tea&go=in"),
        ({"formcss": "[method]"}, "http://site.test/login", b"token=t&user=&q=tea&go=in"),
        (
            {"formcss": "[method]", "clickdata": {"value": "out"}},
            "http://site.test/login",
            b"token=t&user=&q=tea&go=out",
        ),
        (
            {"formcss": "[method]", "dont_click": True},
            "http://site.test/login",
            b"token=t&user=&q=tea",
        ),
    ],
)
def test_a_form_of_a_page_is_chosen_as_in_scrapy(page, choice, url, body):
    request = FormRequest.from_response(page, formdata={"q": "tea"}, callback="found", **choice)

    assert (request.url, request.body, request.callback) == (url, body, "found")


def test_a_json_request_has_its_data_as_body():
    request = JsonRequest("http://site.test/", "found", data={"a": 1})

    assert (request.method, request.body, request.callback) == ("POST", b'{"a": 1}', "found")
    assert JsonRequest("http://site.test/", data={}, method="PUT").method == "PUT"
