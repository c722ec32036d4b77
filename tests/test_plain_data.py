"""Requests and responses, made in a hurry, are what plain dataclasses of their fields would be."""

import copy
import dataclasses
import pickle
from pathlib import Path
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.data import Item, Link, Request, Response, SavedBody
from crawler.headers import Headers

URL = "http://site.test/"

#: Few values of each field, so that two requests are often equal in it.
REQUEST = {
    "url": st.sampled_from([URL, URL + "x"]),
    "method": st.sampled_from(["GET", "get", "POST"]),
    "headers": st.sampled_from([{}, {"A": "1"}, [("a", "1")], Headers({"A": "1"}), Headers()]),
    "body": st.sampled_from([b"", "", b"x", "x", bytearray(b"x")]),
    "cookies": st.sampled_from([{}, {"c": "1"}]),
    "meta": st.sampled_from([{}, {"m": 1}, MappingProxyType({"m": 1})]),
    "depth": st.integers(0, 1),
    "priority": st.integers(0, 1),
    "timeout": st.sampled_from([None, 1, 1.0]),
    "proxy": st.sampled_from([None, "http://proxy.test/"]),
    "callback": st.sampled_from([None, "parse"]),
    "errback": st.sampled_from([None, "failed"]),
    "dont_filter": st.booleans(),
    "found_on": st.sampled_from([None, URL]),
    "redirects": st.sampled_from([(), (URL,)]),
    "attempts": st.sampled_from([(), ("timeout",)]),
    "cb_kwargs": st.sampled_from([{}, {"k": 1}]),
    "save_to": st.sampled_from([None, "files/", Path("file")]),
    "trusted": st.sampled_from([None, frozenset({"127.0.0.1"})]),
    "id": st.sampled_from(["1", "2"]),
}
RESPONSE = {
    "url": REQUEST["url"],
    "status": st.sampled_from([200, 404]),
    "headers": REQUEST["headers"] | st.just(Headers(b"HTTP/1.1 200 OK\r\nA: 1\r\n\r\n")),
    "body": REQUEST["body"],
    "request": st.sampled_from([Request(URL, id="1"), Request(URL, id="2"), Request(URL, depth=1)]),
    "elapsed": st.sampled_from([0.0, 1.5]),
    "flags": st.sampled_from([frozenset(), frozenset({"cached"})]),
    "found": st.sampled_from([(), (Request(URL + "found", id="3"),)]),
    "saved": st.sampled_from([None, SavedBody("file", 3, "abc")]),
}
#: What a field becomes, where that is not the value given.
BECOMES = {
    "method": str.upper,
    "headers": Headers,
    "body": lambda body: body.encode() if isinstance(body, str) else bytes(body),
    "cookies": dict,
    "meta": dict,
    "cb_kwargs": dict,
    "save_to": lambda path: None if path is None else str(path),
}


def plain(cls):
    """Make a frozen dataclass with the fields of *cls* that sets them as dataclasses do."""
    fields = [
        (one.name, object, dataclasses.field(compare=one.compare, hash=one.hash, repr=one.repr))
        for one in dataclasses.fields(cls)
    ]
    return dataclasses.make_dataclass("Plain", fields, frozen=True)


PLAIN = {Request: plain(Request), Response: plain(Response)}
KINDS = [(Request, REQUEST), (Response, RESPONSE)]


def twin(cls, fields):
    kept = {name: BECOMES.get(name, _same)(value) for name, value in fields.items()}
    return PLAIN[cls](**kept)


def _same(value):
    return value


def held(datum):
    """Return what *datum* has in each of its fields; the mappings of a request as dicts."""
    values = {one.name: getattr(datum, one.name) for one in dataclasses.fields(datum)}
    return {n: dict(v) if isinstance(v, MappingProxyType) else v for n, v in values.items()}


def test_every_field_is_drawn():
    for cls, fields in KINDS:
        assert list(fields) == [one.name for one in dataclasses.fields(cls)]


@pytest.mark.parametrize(("cls", "fields"), KINDS)
@given(data=st.data())
def test_it_holds_what_a_plain_dataclass_would(cls, fields, data):
    given = data.draw(st.fixed_dictionaries(fields))

    by_name, by_place = cls(**given), cls(*(given[name] for name in fields))

    assert held(by_name) == held(by_place) == held(twin(cls, given))
    assert type(by_name) is cls
    assert type(by_name.headers) is Headers
    assert type(by_name.body) is bytes


@pytest.mark.parametrize(("cls", "fields"), KINDS)
@given(data=st.data())
def test_it_is_equal_and_hashed_as_a_plain_dataclass_would(cls, fields, data):
    first = data.draw(st.fixed_dictionaries(fields))
    changes = data.draw(st.fixed_dictionaries({}, optional=fields))
    one, other = cls(**first), cls(**first | changes)

    assert (one == other) == (twin(cls, first) == twin(cls, first | changes))
    assert one != twin(cls, first)
    if one == other:
        assert hash(one) == hash(other)


@pytest.mark.parametrize(("cls", "fields"), KINDS)
@given(data=st.data())
def test_a_replaced_one_is_a_new_one_with_the_changes(cls, fields, data):
    first = data.draw(st.fixed_dictionaries(fields))
    changes = data.draw(st.fixed_dictionaries({}, optional=fields))
    original = cls(**first)

    changed = original.replace(**changes)

    assert held(changed) == held(cls(**first | changes))
    assert held(original) == held(cls(**first))
    assert type(changed) is cls
    assert held(dataclasses.replace(original, **changes)) == held(changed)


@given(fields=st.fixed_dictionaries(REQUEST))
def test_a_trusting_request_is_a_replaced_one(fields):
    request, hosts = Request(**fields), {"localhost"}

    assert held(request.replace(trusted=hosts)) == held(request.replace(trusted=hosts))


@pytest.mark.parametrize(("cls", "fields"), KINDS)
def test_defaults_are_those_of_its_signature_alone(cls, fields):
    short = cls(URL) if cls is Request else cls(URL, 200)
    empty = {"method": "GET", "headers": Headers(), "body": b"", "cookies": {}, "meta": {}}
    empty["cb_kwargs"] = {}
    numbers = {"depth": 0, "priority": 0, "elapsed": 0.0, "status": 200, "dont_filter": False}
    tuples = {"redirects": (), "attempts": (), "found": (), "flags": frozenset(), "url": URL}
    own = {"id": short.id} if cls is Request else {"request": short.request}

    known = empty | numbers | tuples | own
    assert held(short) == {name: known.get(name) for name in fields}


DATA = [
    Request(URL, meta={"a": 1}),
    Response(URL, 200, Headers(b"HTTP/1.1 200 OK\r\nA: 1\r\n\r\n"), b"x", Request(URL)),
    Item({"a": 1}, Request(URL)),
    Link(URL, 1, None),
]


@pytest.mark.parametrize("datum", DATA, ids=lambda datum: type(datum).__name__)
def test_nothing_of_it_can_be_set_or_deleted(datum):
    before = held(datum)

    for name in [*before, "other", "__class__"]:
        with pytest.raises((dataclasses.FrozenInstanceError, TypeError)):
            setattr(datum, name, "other")
        with pytest.raises((dataclasses.FrozenInstanceError, TypeError)):
            delattr(datum, name)

    assert held(datum) == before


@pytest.mark.parametrize("datum", DATA, ids=lambda datum: type(datum).__name__)
def test_a_copy_holds_the_same_and_is_frozen_too(datum):
    twin = copy.copy(datum)

    assert twin is not datum
    assert type(twin) is type(datum)
    assert held(twin) == held(datum)
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(twin, next(iter(held(datum))), "other")


def test_a_class_of_ones_own_is_replaced_by_its_kind():
    class Own(Request):
        __slots__ = ()

    own = Own(URL, depth=2)

    assert type(own) is Own
    assert type(own.replace(depth=3)) is Own
    assert own.replace(depth=3).depth == 3
    with pytest.raises(dataclasses.FrozenInstanceError):
        own.depth = 4


@pytest.mark.parametrize("method", ["G T", "", None, 7])
def test_a_request_that_cannot_be_made_leaves_no_half_of_one(method):
    request = Request(URL)

    with pytest.raises(ValueError, match="method"):
        request.__init__(URL + "other", method)

    assert request.url == URL
    with pytest.raises(dataclasses.FrozenInstanceError):
        request.url = URL + "other"


# -- headers that are read late -----------------------------------------------------------------

token = st.text("abcXYZ-09", min_size=1, max_size=4)
visible = st.characters(min_codepoint=33, max_codepoint=255, exclude_characters="\x7f\x85\xa0")
pairs = st.lists(st.tuples(token, st.text(visible, max_size=6)), max_size=6)


def late(fields):
    lines = ["HTTP/1.1 200 OK", *(f"{name}: {value}" for name, value in fields), "", ""]
    return Headers("\r\n".join(lines).encode("latin-1"))


LOOKS = {
    "fields": lambda headers: headers.fields,
    "names": list,
    "number": len,
    "items": lambda headers: list(headers.items()),
    "all": lambda headers: [headers.all(name.swapcase()) for name in headers],
    "some": lambda headers: [headers[name.swapcase()] for name in headers],
    "has": lambda headers: ["a" in headers, "nothing" in headers, headers.get("nothing")],
    "text": repr,
    "hash": hash,
    "copy": lambda headers: copy.copy(headers).fields,
    "deep copy": lambda headers: copy.deepcopy(headers).fields,
    "pickle": lambda headers: pickle.loads(pickle.dumps(headers)).fields,
}


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)
@given(fields=pairs)
def test_headers_that_are_read_late_are_those_of_their_pairs_whatever_is_asked_first(look, fields):
    assert look(late(fields)) == look(Headers(fields))


@given(one=pairs, other=pairs)
def test_headers_that_are_read_late_compare_as_their_pairs_do(one, other):
    expected = Headers(one) == Headers(other)

    assert (late(one) == late(other)) is expected
    assert (late(one) == Headers(other)) is expected
    assert (Headers(one) == late(other)) is expected
    assert late(one) == late(one)
