import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.data import Request
from crawler.frontier.admission.fingerprint import fingerprint
from crawler.frontier.admission.seen import ExactSeen
from crawler.url import canonicalize


def key(url, **fields):
    return fingerprint(Request(url, **fields), canonicalize(url))


def test_says_once_that_a_key_is_new():
    seen = ExactSeen()

    assert [seen.add(each) for each in (b"a", b"b", b"a", b"a", b"b")] == [
        True,
        True,
        False,
        False,
        False,
    ]
    assert len(seen) == 2


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
