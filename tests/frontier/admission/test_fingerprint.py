import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.data import Request
from crawler.frontier.admission.fingerprint import KINDS, Fingerprint
from crawler.url import canonicalize

fingerprint = Fingerprint()


def key(url, **fields):
    return fingerprint(Request(url, **fields), canonicalize(url))


@pytest.mark.parametrize(
    "same",
    [
        "http://a.test/x#fragment",
        "http://A.TEST/x",
        "HTTP://a.test/x",
        "http://a.test:80/x",
        "http://a.test./x",
        "http://a.test/y/../x",
        "http://a.test/./x",
        "http://a.test/%78",
        "http://a.test/x?",
        " http://a.test/x ",
    ],
)
def test_spellings_of_one_url_have_one_fingerprint(same):
    assert key(same) == key("http://a.test/x")


@pytest.mark.parametrize(
    "other",
    [
        "https://a.test/x",
        "http://a.test:8080/x",
        "http://a.test/X",
        "http://a.test/x/",
        "http://a.test/x?q",
        "http://www.a.test/x",
        "http://user@a.test/x",
        "http://a.test/x%2Fy",
    ],
)
def test_other_urls_have_other_fingerprints(other):
    assert key(other) != key("http://a.test/x")


def test_an_empty_path_is_the_root():
    assert key("http://a.test") == key("http://a.test/")


def test_method_and_body_count_and_what_is_not_asked_for_does_not():
    url = "http://a.test/x"

    assert key(url, method="POST") != key(url)
    assert key(url, method="POST", body=b"1") != key(url, method="POST", body=b"2")
    assert key(url, method="post") == key(url, method="POST")
    assert key(url, headers={"X": "1"}, meta={"a": 1}, depth=9, priority=3) == key(url)


def test_sixteen_bytes():
    assert len(key("http://a.test/")) == 16


asked = st.tuples(
    st.sampled_from(["GET", "POST", "PUT", "G"]), st.text(max_size=12), st.binary(max_size=12)
)


@given(asked, asked)
def test_parts_never_run_together(one, two):
    keys = [
        fingerprint(Request("http://a.test/", method=method, body=body), url)
        for method, url, body in (one, two)
    ]

    assert (keys[0] == keys[1]) == (one == two)


def test_a_url_that_looks_like_another_with_a_body_is_another():
    one = fingerprint(Request("http://a.test/", method="POST", body=b"x"), "http://a.test/")
    two = fingerprint(Request("http://a.test/", method="POST"), "http://a.test/x")

    assert one != two


URL = "http://example.org/"
REQUESTS = {
    "plain": fingerprint.of(URL),
    "method": fingerprint.of(URL, "POST"),
    "body": fingerprint.of(URL, body=b"a"),
    "body of the same text": fingerprint.of(URL + "1 a"),
    "empty header": fingerprint.of(URL, headers=[("a", "")]),
    "header": fingerprint.of(URL, headers=[("a", "bc")]),
    "header, other border": fingerprint.of(URL, headers=[("ab", "c")]),
    "two headers": fingerprint.of(URL, headers=[("a", ""), ("b", "c")]),
    "one header twice": fingerprint.of(URL, headers=[("a", "bc"), ("a", "bc")]),
    "header and body": fingerprint.of(URL, body=b"a", headers=[("a", "bc")]),
    "body like a header": fingerprint.of(URL, body=b"0 1 a2 bc"),
    "surrogate": fingerprint.of(URL + "\ud800"),
}


def test_different_requests_have_different_fingerprints():
    assert len(set(REQUESTS.values())) == len(REQUESTS)
    assert {len(key) for key in REQUESTS.values()} == {16}


def test_case_and_order_of_header_names_do_not_count():
    one = fingerprint.of(URL, headers=[("Accept-Language", "de"), ("X-A", "B")])
    other = fingerprint.of(URL, headers=iter([("x-a", "B"), ("accept-language", "de")]))

    assert one == other
    assert one != fingerprint.of(URL, headers=[("Accept-Language", "de"), ("X-A", "b")])


def test_no_headers_are_none_however_given():
    assert (
        fingerprint.of(URL, headers=iter(()))
        == fingerprint.of(URL, headers=[])
        == REQUESTS["plain"]
    )


@given(*[st.tuples(st.text(), st.binary(), st.lists(st.tuples(st.text(), st.text())))] * 2)
def test_fingerprints_are_equal_only_if_the_requests_are(one, other):
    def same(request):
        url, body, headers = request
        return url, body, sorted((name.lower(), value) for name, value in headers)

    def of(request):
        url, body, headers = request
        return fingerprint.of(url, "GET", body, headers)

    assert (of(one) == of(other)) == (same(one) == same(other))


# -- the key ---------------------------------------------------------------------------------------


def test_fingerprints_depend_on_a_key_that_is_random_unless_it_is_given():
    given = [Fingerprint(key=b"secret").of(URL) for _ in range(2)]

    assert given[0] == given[1] != Fingerprint(key=b"other").of(URL)
    assert Fingerprint().of(URL) != Fingerprint().of(URL)


def test_without_a_key_they_are_the_same_everywhere():
    assert Fingerprint("mmh3").of("http://site.test/0").hex() == "6e208ee17652e40f0fc7f1c886794693"


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_stored_gives_the_same_fingerprints(kind):
    one = Fingerprint(kind)
    stored = json.loads(json.dumps(one.to_dict()))

    assert Fingerprint.from_dict(stored).of(URL, "POST", b"x") == one.of(URL, "POST", b"x")
    assert stored["key"] not in repr(one) or not stored["key"]


def test_another_kind_is_refused():
    with pytest.raises(ValueError, match="fingerprint must be one of blake2b, mmh3, not 'md5'"):
        Fingerprint("md5")
