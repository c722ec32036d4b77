import json
from enum import IntEnum
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.data import Request, Response, SavedBody
from crawler.errors import DownloadError, FetchError, ModuleError, Unwritable
from crawler.headers import Headers
from crawler.serialization import (
    error_from_dict,
    error_to_dict,
    request_from_dict,
    request_to_dict,
    response_from_dict,
    response_to_dict,
)

URL = "http://site.test/"

texts = st.text(st.characters(exclude_categories=()), max_size=20)
#: Never one of the names that a request refuses in its meta, nor one of the framework's own.
keys = texts.map("k{}".format)
tokens = st.text("abcXYZ-0", min_size=1, max_size=5)
values = st.text(st.characters(exclude_characters="\r\n\0;", exclude_categories=["Cs"]), max_size=9)
jsons = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)  # fmt: skip
requests = st.builds(
    Request,
    url=texts.filter(bool),
    method=st.sampled_from(["GET", "POST", "PURGE"]),
    headers=st.lists(st.tuples(tokens, values), max_size=3).map(Headers),
    body=st.binary(max_size=30),
    cookies=st.dictionaries(tokens, values, max_size=2),
    meta=st.dictionaries(keys, jsons, max_size=3),
    cb_kwargs=st.dictionaries(keys, jsons, max_size=3),
    depth=st.integers(0, 9),
    priority=st.integers(-9, 9),
    timeout=st.none() | st.floats(0.1, 9),
    proxy=st.none() | st.just("http://proxy.test:3128"),
    callback=st.none() | st.just("parse_shop"),
    errback=st.none() | st.just("give_up"),
    dont_filter=st.booleans(),
    found_on=st.none() | texts,
    redirects=st.lists(texts, max_size=2).map(tuple),
    attempts=st.lists(texts, max_size=2).map(tuple),
    save_to=st.none() | st.just("files/"),
)


def through_json(data):
    return json.loads(json.dumps(data, allow_nan=False))


class Level(IntEnum):
    HIGH = 3


class SmartText(str):
    __slots__ = ()


# -- requests ---------------------------------------------------------------------------------


@given(requests)
def test_a_request_comes_back_as_it_was_and_keeps_its_id(request):
    again = request_from_dict(through_json(request_to_dict(request)))

    assert again == request
    assert (again.id, again.headers.fields) == (request.id, request.headers.fields)


@given(requests)
def test_a_raw_body_is_bytes_and_comes_back_too(request):
    data = request_to_dict(request, raw=True)

    assert data.get("body", b"") == request.body
    assert request_from_dict(data) == request


def test_fields_with_default_values_are_not_written():
    assert request_to_dict(Request(URL, id="7f")) == {"url": URL, "id": "7f"}
    assert request_to_dict(Request(URL, id="7f", body="é", depth=2)) == {
        "url": URL,
        "id": "7f",
        "body": "w6k=",
        "depth": 2,
    }


def test_a_header_given_twice_stays_two():
    request = Request(URL, headers=Headers([("Accept", "a"), ("accept", "b")]))

    again = request_from_dict(request_to_dict(request))

    assert again.headers.all("accept") == ["a", "b"]


def test_values_in_meta_that_are_nearly_json_become_json():
    meta = {"pair": (1, (2,)), "level": Level.HIGH, "text": SmartText("x")}

    again = request_from_dict(through_json(request_to_dict(Request(URL, meta=meta))))

    assert again.meta == {"pair": [1, [2]], "level": 3, "text": "x"}
    written = request_to_dict(Request(URL, meta=meta))["meta"]
    assert [type(value) for value in written.values()] == [list, int, str]


def nested(depth):
    deep = []
    for _ in range(depth):
        deep = [deep]
    return deep


def test_lists_may_nest_a_hundred_deep():
    meta = {"deep": nested(99)}

    assert request_to_dict(Request(URL, meta=meta))["meta"] == meta


@pytest.mark.parametrize(
    ("meta", "place", "kind"),
    [
        ({"when": {"from": {1, 2}}}, "meta['when']['from']", set),
        ({"list": [1, b"x"]}, "meta['list'][1]", bytes),
        ({"ratio": float("nan")}, "meta['ratio']", float),
        ({"table": {1: "one"}}, "a key of meta['table']", int),
        ({None: 1}, "a key of meta", type(None)),
        ({"deep": nested(10_000)}, "meta['deep']" + "[0]" * 100, list),
        ({"view": MappingProxyType({})}, "meta['view']", MappingProxyType),
    ],
)
def test_a_value_that_json_cannot_represent_is_refused_with_its_place_and_type(meta, place, kind):
    with pytest.raises(Unwritable) as caught:
        request_to_dict(Request(URL, meta=meta))

    assert (caught.value.place, caught.value.kind) == (place, kind)
    assert place in str(caught.value)
    assert kind.__qualname__ in str(caught.value)
    assert URL in str(caught.value)


def test_the_frameworks_own_keys_in_meta_are_not_written():
    request = Request(URL, meta={"crawler.cache.validated": object(), "shop": 7})

    assert request_to_dict(request)["meta"] == {"shop": 7}


def test_trust_is_neither_written_nor_read():
    written = request_to_dict(Request(URL, trusted={"127.0.0.1"}))

    assert "trusted" not in written
    with pytest.raises(ValueError, match="no field 'trusted'"):
        request_from_dict(written | {"trusted": ["127.0.0.1"]})


@pytest.mark.parametrize("texts", ["abc", ["a", 5], [None], 7])
@pytest.mark.parametrize("name", ["redirects", "attempts", "flags"])
def test_lists_of_anything_but_texts_are_refused(name, texts):
    request = {"url": URL, "id": "1"}
    with pytest.raises(ValueError, match="does not describe a re"):
        if name == "flags":
            response_from_dict({"url": URL, "status": 200, "request": request, name: texts})
        else:
            request_from_dict({**request, name: texts})


def test_a_dict_of_something_else_is_refused():
    with pytest.raises(ValueError, match="no field 'colour'"):
        request_from_dict({"url": URL, "colour": "red"})
    with pytest.raises(ValueError, match="does not describe a request: AttributeError"):
        request_from_dict(["http://site.test/"])
    with pytest.raises(ValueError, match="cookies must be a mapping of names to values, not 'a=b'"):
        request_from_dict({"url": "http://site.test/", "cookies": "a=b"})
    with pytest.raises(ValueError, match="does not describe a request: TypeError"):
        request_from_dict({})
    with pytest.raises(ValueError, match="header name"):
        request_from_dict({"url": URL, "headers": [["a b", "c"]]})
    with pytest.raises(ValueError):
        request_from_dict({"url": URL, "body": "no base64"})


# -- responses --------------------------------------------------------------------------------


@given(
    requests,
    st.lists(requests, max_size=2).map(tuple),
    st.binary(max_size=30),
    st.frozensets(st.sampled_from(["cached", "truncated"])),
    st.booleans(),
)
def test_a_response_comes_back_with_its_request(request, found, body, flags, raw):
    headers = Headers([("Set-Cookie", "a=1"), ("Set-Cookie", "b=2")])
    response = Response(URL, 203, headers, body, request, 0.5, flags, found)

    data = response_to_dict(response, raw=raw)
    again = response_from_dict(data if raw else through_json(data))

    assert again == response
    assert again.headers.fields == response.headers.fields
    assert (again.request.id, [one.id for one in again.found]) == (
        request.id,
        [one.id for one in found],
    )


# -- errors -----------------------------------------------------------------------------------


def test_a_response_whose_body_is_in_a_file_comes_back_so():
    response = Response(URL, 200, saved=SavedBody("files/a.png", 3, "abc"))

    assert response_from_dict(through_json(response_to_dict(response))) == response


def test_an_error_is_restored_with_its_request_and_its_fetch_error():
    error = DownloadError("D1", Request(URL, id="7f"), "FetchError: dns: no such host", "dns")
    error.__cause__ = FetchError("dns", "no such host")

    again = error_from_dict(through_json(error_to_dict(error)))

    assert (type(again), str(again), again.kind) == (DownloadError, str(error), "dns")
    assert again.request.id == "7f"
    assert (type(again.__cause__), str(again.__cause__)) == (FetchError, "dns: no such host")


def test_other_causes_are_not_written_and_a_subclass_becomes_its_nearest_known_base():
    class Odd(ModuleError):
        kind = "odd"

    error = Odd("D1", Request(URL), "why not")
    error.__cause__ = KeyError("x")

    again = error_from_dict(through_json(error_to_dict(error)))

    assert (type(again), again.kind, again.__cause__) == (ModuleError, "odd", None)
