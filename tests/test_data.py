import copy
import dataclasses
import io

import pytest

from crawler.data import Item, Link, Links, Request, Response, is_item
from crawler.headers import Headers

URL = "http://site.test/"


def test_a_request_needs_only_a_url():
    request = Request(URL)

    assert (request.method, request.body, request.depth, request.priority) == ("GET", b"", 0, 0)
    assert (dict(request.headers), dict(request.cookies), dict(request.meta)) == ({}, {}, {})
    assert (request.timeout, request.proxy, request.found_on, request.redirects) == (
        None,
        None,
        None,
        (),
    )
    assert (request.callback, request.errback, request.dont_filter) == (None, None, False)


def test_a_request_carries_what_its_user_will_want_back():
    request = Request(
        URL, meta={"shop": 7}, callback="parse_shop", errback="give_up", priority=3, found_on="x"
    )

    assert request.meta["shop"] == 7
    assert (request.callback, request.errback) == ("parse_shop", "give_up")
    assert (request.priority, request.found_on) == (3, "x")


@pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(Request)])
def test_no_field_of_a_request_can_be_set(name):
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(Request(URL), name, "other")


@pytest.mark.parametrize("name", ["headers", "cookies", "meta"])
def test_the_mappings_of_a_request_cannot_be_changed_from_inside_or_outside(name):
    given_by_user = {"a": "1"}
    request = Request(URL, **{name: given_by_user})

    given_by_user["a"] = "2"
    with pytest.raises(TypeError):
        getattr(request, name)["a"] = "3"

    assert getattr(request, name)["a"] == "1"


def test_a_body_of_bytearray_does_not_change_behind_the_request():
    body = bytearray(b"abc")
    request = Request(URL, body=body)

    body[0] = 0

    assert request.body == b"abc"


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), 0.0])
def test_a_timeout_that_leaves_no_time_is_refused(timeout):
    with pytest.raises(ValueError, match="timeout must be more than 0"):
        Request(URL, timeout=timeout)


def test_a_depth_below_zero_is_refused():
    with pytest.raises(ValueError, match="depth must be 0 or more"):
        Request(URL, depth=-1)


def test_requests_are_equal_when_they_ask_for_the_same_whatever_their_id():
    one = Request(URL, headers={"A": "1"}, meta={"x": [1]}, cookies={"c": "d"})
    same = Request(URL, headers={"a": "1"}, meta={"x": [1]}, cookies={"c": "d"})

    assert one == same
    assert hash(one) == hash(same)
    assert one.id != same.id
    assert len({one, same}) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"url": URL + "b"},
        {"method": "POST"},
        {"headers": {"A": "2"}},
        {"body": b"x"},
        {"cookies": {"a": "b"}},
        {"meta": {"a": "b"}},
        {"depth": 1},
        {"priority": 1},
        {"callback": "parse"},
        {"dont_filter": True},
    ],
)
def test_requests_that_differ_in_anything_else_are_not_equal(change):
    request = Request(URL)

    assert request.replace(**change) != request


def test_a_replaced_request_is_the_same_request_still():
    request = Request(URL, headers={"A": "1"}, meta={"m": 1}, cookies={"c": "d"}, depth=2)

    again = request.replace(priority=5)

    assert again.id == request.id
    assert again.priority == 5
    assert again.replace(priority=0) == request
    assert request.priority == 0


def test_a_change_is_checked_like_a_new_request():
    with pytest.raises(ValueError, match="method"):
        Request(URL).replace(method="G T")
    with pytest.raises(TypeError):
        Request(URL).replace(colour="red")


def test_a_class_made_from_request_is_made_and_frozen_like_it():
    class Form(Request):
        def __init__(self, url, fields):
            super().__init__(url, method="POST", body="&".join(fields))

    form = Form("http://a.test/", ["a=1", "b=2"])

    assert type(form) is Form
    assert (form.method, form.body, form.depth) == ("POST", b"a=1&b=2", 0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        form.url = "http://b.test/"
    with pytest.raises(dataclasses.FrozenInstanceError):
        del form.url


def test_a_copy_is_a_request_like_the_first():
    request = Request("http://a.test/", depth=2)
    twin = copy.copy(request)
    assert type(twin) is Request
    assert (twin, twin.id) == (request, request.id)


def test_every_request_has_an_id_of_its_own():
    assert len({Request(URL).id for _ in range(1000)}) == 1000


def test_a_request_prints_method_url_and_id():
    request = Request(URL, method="POST", id="7f")

    assert str(request) == "POST http://site.test/ [7f]"
    assert "url='http://site.test/'" in repr(request)


# -- responses --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(Response)])
def test_no_field_of_a_response_can_be_set(name):
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(Response(URL, 200), name, "other")


def test_a_response_keeps_its_request_and_the_depth_of_it():
    request = Request(URL, depth=3)

    response = Response(URL + "moved", 200, request=request)

    assert response.request is request
    assert response.depth == 3


def test_a_response_without_a_request_answers_one_for_its_url():
    response = Response(URL, 200)

    assert response.request == Request(URL)
    assert response.depth == 0


def test_headers_of_a_response_may_be_given_as_a_dict():
    assert Response(URL, 200, headers={"A": "b"}).headers == Headers({"A": "b"})


def test_a_body_that_changes_behind_the_response_does_not_change_in_it():
    body = bytearray(b"abc")
    response = Response(URL, 200, body=body)

    body[0] = 0

    assert response.body == b"abc"


def test_readers_do_not_disturb_each_other():
    response = Response(URL, 200, body=b"first line\nsecond line\n")

    one, other = response.reader(), response.reader()

    assert one.readline() == b"first line\n"
    assert other.read() == response.body
    assert one.read() == b"second line\n"
    assert response.reader().read() == response.body


def test_what_is_done_to_a_reader_does_not_reach_the_body():
    response = Response(URL, 200, body=b"whole")
    reader = response.reader()

    reader.seek(0, io.SEEK_END)
    reader.write(b" and more")
    reader.close()

    assert response.body == b"whole"
    assert response.reader().read() == b"whole"


def test_a_response_without_body_reads_as_nothing():
    response = Response(URL, 204)

    assert response.reader().read() == b""
    assert response.text == ""


def test_text_is_decoded_as_the_headers_say():
    response = Response(
        URL, 200, Headers({"CONTENT-TYPE": "text/html; charset=gbk"}), "中文".encode("gbk")
    )

    assert response.text == "中文"
    assert response.encoding == "gbk"


def test_a_replaced_response_is_decoded_anew():
    response = Response(URL, 200, body=b"one")
    assert response.text == "one"

    assert response.replace(body=b"two").text == "two"
    assert response.text == "one"


@pytest.mark.parametrize(
    "body", [b'{"a": 1}', b'\xef\xbb\xbf{"a": 1}', '{"a": 1}'.encode("utf-16")]
)
def test_json_is_read_in_any_encoding_json_has(body):
    assert Response(URL, 200, body=body).json() == {"a": 1}


@pytest.mark.parametrize("body", [b"", b"<html>", b"\xff\xfe\xfd", b'{"a": \xe9}'])
def test_what_is_no_json_is_a_value_error(body):
    with pytest.raises(ValueError):
        Response(URL, 200, body=body).json()


def test_a_response_prints_status_url_and_the_id_of_its_request_but_never_its_body():
    response = Response(URL, 404, body=b"secret", request=Request(URL, id="7f"))

    assert str(response) == "404 http://site.test/ [7f]"
    assert "secret" not in repr(response)


def test_equal_responses_have_equal_hashes():
    request = Request(URL)
    one = Response(URL, 200, {"A": "b"}, b"x", request)
    same = Response(URL, 200, {"a": "b"}, b"x", request.replace(id="other"))

    assert one == same
    assert hash(one) == hash(same)
    assert one != one.replace(status=201)


# -- items ------------------------------------------------------------------------------------


def test_an_item_knows_where_it_is_from_and_cannot_be_given_another_value():
    request = Request(URL, id="7f")
    item = Item({}, request)

    assert item.request is request
    assert str(item) == "dict from http://site.test/ [7f]"
    with pytest.raises(dataclasses.FrozenInstanceError):
        item.value = {"a": 1}


@pytest.mark.parametrize(
    "value",
    [
        Request(URL),
        Response(URL, 200),
        Link(URL, 1, None),
        Links([URL], 1, None),
        Item({}, Request(URL)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_flows_through_a_crawl_is_not_an_item_itself(value):
    assert not is_item(value)
