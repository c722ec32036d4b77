import gzip
import random
import zlib
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler import FetchError
from crawler.http import content_coding as coding

MAX_SIZE = 100_000
PAGE = b"<p>" + random.Random(1).randbytes(2000).hex().encode()

ENCODERS = {"gzip": gzip.compress, "deflate": zlib.compress}
try:
    import brotli

    ENCODERS["br"] = brotli.compress
except ImportError:
    pass


@given(body=st.binary(max_size=5000), names=st.lists(st.sampled_from(sorted(ENCODERS)), max_size=4))
def test_decoding_restores_the_encoded_body(body, names):
    encoded = body
    for name in names:
        encoded = ENCODERS[name](encoded)

    assert coding.decode(encoded, ", ".join(names), MAX_SIZE) == body


@pytest.mark.parametrize("name", ENCODERS)
@given(data=st.data())
def test_a_cut_stream_is_never_a_whole_body(name, data):
    encoded = ENCODERS[name](PAGE)
    cut = encoded[: data.draw(st.integers(1, len(encoded) - 1))]

    with pytest.raises(FetchError) as caught:
        coding.decode(cut, name, MAX_SIZE)

    assert caught.value.kind == "truncated"


@given(body=st.binary(min_size=1, max_size=200), name=st.sampled_from([*ENCODERS, "x-gzip"]))
def test_no_bytes_raise_anything_but_a_fetch_error(body, name):
    with suppress(FetchError):
        coding.decode(body, name, MAX_SIZE)


@pytest.mark.parametrize("name", ENCODERS)
def test_a_body_as_large_as_the_limit_is_the_largest(name):
    encode = ENCODERS[name]

    assert len(coding.decode(encode(bytes(100_000)), name, MAX_SIZE)) == 100_000
    for size in (100_001, 1_000_000):
        with pytest.raises(FetchError, match="too_large"):
            coding.decode(encode(bytes(size)), name, MAX_SIZE)


def test_members_count_together():
    with pytest.raises(FetchError, match="too_large"):
        coding.decode(gzip.compress(bytes(60_000)) * 2, "gzip", MAX_SIZE)


def test_a_million_empty_members_cost_no_time():
    with pytest.raises(FetchError, match="bad_encoding"):
        coding.decode(gzip.compress(b"") * 100_000, "gzip", MAX_SIZE)


@pytest.mark.skipif("br" in ENCODERS, reason="brotli is installed")
def test_br_without_its_package_is_neither_asked_for_nor_guessed():
    assert coding.accept_encoding() == "gzip, deflate"
    with pytest.raises(FetchError, match="brotli"):
        coding.decode(b"\x0b\x02\x80hello\x03", "br", MAX_SIZE)


@pytest.mark.skipif("br" not in ENCODERS, reason="brotli is not installed")
def test_br_is_asked_for_when_it_can_be_decoded():
    assert coding.accept_encoding() == "gzip, deflate, br"


@pytest.mark.parametrize("name", ENCODERS)
def test_an_archived_body_that_is_still_coded_is_decoded(name):
    assert coding.decode_archived(ENCODERS[name](PAGE), name, MAX_SIZE) == PAGE


@pytest.mark.parametrize("name", ["gzip", "x-gzip", "identity", "zstd", ""])
def test_an_archived_body_that_was_decoded_before_is_left_as_it_is(name):
    assert coding.decode_archived(PAGE, name, MAX_SIZE) == PAGE


def test_every_gzip_stream_of_an_archived_body_counts():
    body = gzip.compress(b"one ") + gzip.compress(b"two")

    assert coding.decode_archived(body, "gzip", MAX_SIZE) == b"one two"


@pytest.mark.parametrize("body", [bytes(100_001), gzip.compress(bytes(100_001))])
def test_an_archived_body_is_limited_whether_it_is_coded_or_not(body):
    with pytest.raises(FetchError, match="too_large"):
        coding.decode_archived(body, "gzip", MAX_SIZE)


def test_a_size_may_reach_its_limit_and_not_exceed_it():
    coding.check_body_size(10, 10)
    with pytest.raises(FetchError, match="too_large: the body is larger than 10 bytes"):
        coding.check_body_size(11, 10)


def in_pieces(body, size):
    return (body[at : at + size] for at in range(0, len(body), size))


@given(
    body=st.binary(max_size=3000),
    names=st.lists(st.sampled_from(sorted(ENCODERS)), min_size=1, max_size=3),
    size=st.integers(1, 2000),
    at_once=st.integers(1, 500),
)
def test_a_body_that_comes_in_pieces_is_decoded_piece_by_piece(body, names, size, at_once):
    encoded = body * 3
    for name in names:
        encoded = ENCODERS[name](encoded)

    pieces = list(
        coding.decoded(in_pieces(encoded, size), ",".join(names), MAX_SIZE, at_once=at_once)
    )

    assert b"".join(pieces) == body * 3
    most = at_once if names[0] != "br" else at_once + 65536
    assert max(map(len, pieces), default=0) <= most


@pytest.mark.parametrize("name", ENCODERS)
@given(data=st.data(), size=st.integers(1, 200))
def test_a_cut_stream_of_pieces_is_never_whole(name, data, size):
    encoded = ENCODERS[name](PAGE)
    cut = encoded[: data.draw(st.integers(1, len(encoded) - 1))]

    with pytest.raises(FetchError) as caught:
        list(coding.decoded(in_pieces(cut, size), name, MAX_SIZE, at_once=100))

    assert caught.value.kind == "truncated"


@pytest.mark.parametrize("name", ENCODERS)
def test_a_bomb_is_decoded_no_further_than_to_the_limit(name):
    pieces = coding.decoded([ENCODERS[name](bytes(10_000_000))], name, MAX_SIZE, at_once=1000)
    sizes = []
    with pytest.raises(FetchError, match="too_large"):
        sizes.extend(map(len, pieces))

    assert sum(sizes) <= MAX_SIZE


@pytest.mark.parametrize("name", ["deflate", *({"br"} & {*ENCODERS})])
def test_bytes_after_the_end_are_an_error_in_whichever_piece_they_come(name):
    for pieces in ([ENCODERS[name](PAGE) + b"more"], [ENCODERS[name](PAGE), b"more"]):
        with pytest.raises(FetchError, match="bad_encoding"):
            list(coding.decoded(pieces, name, MAX_SIZE, at_once=1000))
