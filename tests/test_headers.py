import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.headers import Headers


def test_header_names_compare_without_regard_to_case():
    headers = Headers({"Content-Type": "text/html"})

    assert headers["content-type"] == headers["CONTENT-TYPE"] == "text/html"
    assert "content-TYPE" in headers
    assert headers.get("Missing") is None
    with pytest.raises(KeyError):
        headers["Missing"]


def test_a_change_is_an_error_that_names_the_remedy():
    with pytest.raises(TypeError, match=r"request\.replace\(headers=.*'X-Key'"):
        Headers()["X-Key"] = "1"


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


def test_methods_of_scrapys_fields_are_answered_by_ours():
    headers = Headers([("Set-Cookie", "a=1")])

    with pytest.raises(AttributeError, match=r"no attribute 'getlist'; all\(name\) returns"):
        headers.getlist("Set-Cookie")
    with pytest.raises(AttributeError, match=r"no attribute 'other'$"):
        headers.other
