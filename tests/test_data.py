import copy
import dataclasses
import io
from collections import UserDict
from pathlib import Path
from types import MappingProxyType

import attrs
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.data import Headers, Item, Link, Links, Request, Response, fields_of, is_item

URL = "http://site.test/"


class SmartText(str):
    """As lxml and BeautifulSoup give: text that also knows the document it is from."""

    __slots__ = ("document",)


# -- requests ---------------------------------------------------------------------------------


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


@pytest.mark.parametrize(
    ("body", "sent"), [("é", b"\xc3\xa9"), (bytearray(b"x"), b"x"), (memoryview(b"y"), b"y")]
)
def test_a_body_becomes_bytes(body, sent):
    assert Request(URL, body=body).body == sent
    assert Response(URL, 200, body=body).body == sent


@pytest.mark.parametrize("body", [None, 5, ["a"], {"a": "b"}])
def test_a_body_that_is_no_text_and_no_bytes_is_refused(body):
    with pytest.raises(ValueError, match="body must be bytes or text"):
        Request(URL, body=body)
    with pytest.raises(ValueError, match="body must be bytes or text"):
        Response(URL, 200, body=body)


@pytest.mark.parametrize("url", [None, b"http://site.test/", 5, ["http://site.test/"], ""])
def test_a_url_that_is_no_text_is_refused(url):
    with pytest.raises(ValueError, match="url must"):
        Request(url)


def test_a_url_from_a_selector_is_kept_as_plain_text():
    request = Request(SmartText(URL))

    assert type(request.url) is str
    assert request == Request(URL)


@pytest.mark.parametrize(("method", "kept"), [("get", "GET"), ("Post", "POST"), ("M-SEARCH",) * 2])
def test_a_method_is_in_upper_case(method, kept):
    assert Request(URL, method=method).method == kept


@pytest.mark.parametrize(
    "method", ["", "GET ", "GET\r\n", "GET\r\nHost: x", "GE\0T", "G T", "GÉT", None, 5, b"GET"]
)
def test_a_method_that_is_no_word_is_refused(method):
    with pytest.raises(ValueError, match="method must be a word"):
        Request(URL, method=method)


@pytest.mark.parametrize("name", ["", "A b", "A:", "A\r\nB", "A\n", "A\0", "Ä", 5, None, b"A"])
def test_a_header_name_that_is_no_word_is_refused(name):
    with pytest.raises(ValueError, match="header name"):
        Request(URL, headers={name: "x"})


@pytest.mark.parametrize("value", ["a\r\nB: c", "a\n", "\ra", "a\0", 5, None, b"a", ["a"]])
def test_a_header_value_that_could_break_out_of_its_line_is_refused(value):
    with pytest.raises(ValueError, match="header A must be text without line breaks"):
        Request(URL, headers={"A": value})
    with pytest.raises(ValueError, match="header A"):
        Request(URL, headers=Headers([("A", value)]))
    with pytest.raises(ValueError, match="header A"):
        Request(URL).replace(headers=[("A", value)])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("a", "b; c=d"),
        ("a", "b\r\nX: y"),
        ("a", "b\n"),
        ("a", "b\0"),
        ("a=b", "c"),
        ("a;", "c"),
        ("a\n", "c"),
        ("", "c"),
        ("a", None),
        ("a", 5),
        (5, "a"),
        ("a", b"b"),
    ],
)
def test_a_cookie_that_could_become_another_is_refused(name, value):
    with pytest.raises(ValueError, match="cookie"):
        Request(URL, cookies={name: value})


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), 0.0])
def test_a_timeout_that_leaves_no_time_is_refused(timeout):
    with pytest.raises(ValueError, match="timeout must be more than 0"):
        Request(URL, timeout=timeout)


def test_a_depth_below_zero_is_refused():
    with pytest.raises(ValueError, match="depth must be 0 or more"):
        Request(URL, depth=-1)


@pytest.mark.parametrize("path", ["", b"file", "a\0b"])
def test_a_file_that_cannot_be_named_is_refused(path):
    with pytest.raises(ValueError, match="save_to must be the name of a file"):
        Request("http://site.test/", save_to=path)


def test_a_path_to_save_to_is_kept_as_text():
    assert Request("http://site.test/", save_to=Path("a") / "b").save_to == "a/b"
    assert Request("http://site.test/", save_to="files/").save_to == "files/"


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


# -- headers ----------------------------------------------------------------------------------


def test_header_names_compare_without_regard_to_case():
    headers = Headers({"Content-Type": "text/html"})

    assert headers["content-type"] == headers["CONTENT-TYPE"] == "text/html"
    assert "content-TYPE" in headers
    assert headers.get("Missing") is None
    with pytest.raises(KeyError):
        headers["Missing"]


def test_a_field_given_twice_reads_as_one_and_can_be_had_apart():
    headers = Headers([("Set-Cookie", "a=1"), ("X", "y"), ("set-cookie", "b=2")])

    assert headers["Set-Cookie"] == "a=1, b=2"
    assert headers.all("SET-COOKIE") == ["a=1", "b=2"]
    assert headers.all("missing") == []
    assert len(headers) == 2


def test_fields_keep_their_order_and_first_spelling():
    headers = Headers([("B", "1"), ("A", "2"), ("b", "3"), ("C", "4")])

    assert list(headers) == ["B", "A", "C"]
    assert list(headers.items()) == [("B", "1, 3"), ("A", "2"), ("C", "4")]
    assert headers.fields == (("B", "1"), ("A", "2"), ("b", "3"), ("C", "4"))


@given(st.lists(st.tuples(st.sampled_from(["A", "a", "B", "Cc", "cC"]), st.text(max_size=3))))
def test_headers_are_a_mapping_of_their_fields(fields):
    headers = Headers(fields)

    assert len(headers) == len(list(headers)) == len({name.lower() for name, _ in fields})
    for name in headers:
        values = [value for other, value in fields if other.lower() == name.lower()]
        assert headers.all(name) == values
        assert headers[name] == ", ".join(values)
    assert Headers(headers.fields) == headers


@given(
    st.lists(
        st.tuples(
            st.text("abcXYZ-09", min_size=1),
            st.text(
                st.characters(
                    min_codepoint=33, max_codepoint=255, blacklist_characters="\x7f\x85\xa0"
                )
            ),
        )
    )
)
def test_headers_read_from_a_head_are_its_fields(fields):
    lines = ["HTTP/1.1 200 OK", *(f"{name}: {value}" for name, value in fields), "", ""]
    read = Headers("\r\n".join(lines).encode("latin-1"))
    assert list(read.fields) == fields
    assert read == Headers(fields)


def test_headers_are_equal_without_regard_to_case_and_order_of_names():
    one, same = Headers([("A", "1"), ("B", "2")]), Headers([("b", "2"), ("a", "1")])

    assert one == same
    assert hash(one) == hash(same)
    assert one != Headers([("A", "1")])
    assert Headers([("A", "1"), ("A", "2")]) != Headers([("A", "2"), ("A", "1")])
    assert one != {"A": "1", "B": "2"}


def test_headers_cannot_be_changed():
    headers = Headers([("A", "1")])

    with pytest.raises(TypeError):
        headers["A"] = "2"
    with pytest.raises(AttributeError):
        headers.fields = ()
    headers.all("A").append("2")

    assert headers["A"] == "1"


def test_headers_print_their_fields():
    assert repr(Headers({"A": "1"})) == "Headers([('A', '1')])"


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


@dataclasses.dataclass(frozen=True, slots=True)
class Quote:
    text: str


AttrsQuote = attrs.make_class("AttrsQuote", ["text"], slots=True, frozen=True)
PydanticQuote = pydantic.create_model("PydanticQuote", text=str)
ITEMS = {
    "dict": {"text": "To be"},
    "mapping": MappingProxyType({"text": "To be"}),
    "user mapping": UserDict(text="To be"),
    "dataclass": Quote("To be"),
    "attrs": AttrsQuote("To be"),
    "pydantic": PydanticQuote(text="To be"),
}
NO_ITEMS = {
    "nothing": None,
    "text": "To be",
    "bytes": b"To be",
    "number": 1,
    "list": [{"text": "To be"}],
    "pairs": [("text", "To be")],
    "object": object(),
    "dataclass itself": Quote,
    "attrs class itself": AttrsQuote,
    "pydantic class itself": PydanticQuote,
}


@pytest.mark.parametrize("value", ITEMS.values(), ids=ITEMS)
def test_mappings_and_objects_with_named_fields_are_items(value):
    assert is_item(value)
    assert fields_of(value) == {"text": "To be"}


@pytest.mark.parametrize("value", NO_ITEMS.values(), ids=NO_ITEMS)
def test_anything_else_is_not_an_item_and_has_no_fields(value):
    assert not is_item(value)
    assert fields_of(value) is None


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


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"url": None}, "url must be text, not None: has a selector found nothing?"),
        (
            {"url": "http://a.test/", "cookies": [{"name": "a"}]},
            "cookies must be a mapping of names",
        ),
    ],
)
def test_fields_of_a_wrong_type_are_named(fields, complaint):
    with pytest.raises(ValueError) as info:
        Request(**fields)

    assert str(info.value).startswith(complaint)
