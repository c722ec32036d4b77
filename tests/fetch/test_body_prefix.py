import gzip
import zlib
from functools import partial

import pytest

from crawler.errors import FetchError
from crawler.fetch.body_prefix import BodyPrefix
from crawler.http.content_coding import accept_encoding

TEXT = b"".join(b"%d " % (n * n) for n in range(100_000))


def coder(name):
    if name == "br":
        return partial(pytest.importorskip("brotli").compress, quality=3)
    return {"": bytes, "gzip": gzip.compress, "deflate": zlib.compress}[name]


@pytest.mark.parametrize("name", ["", *accept_encoding().split(", ")])
@pytest.mark.parametrize("size", [1, 1000, 100_000])
def test_it_is_the_start_of_the_decoded_body_however_that_is_coded(name, size):
    coded = coder(name)(TEXT)
    prefix = BodyPrefix(size)
    arrived = b""
    for at in range(0, len(coded), 997):
        arrived += coded[at : at + 997]
        if not prefix.take(coded[at : at + 997]):
            break

    assert prefix.is_full
    assert len(arrived) < len(coded)
    assert prefix.decoded(arrived, name) == TEXT[:size]
    assert prefix.is_cut


@pytest.mark.parametrize("name", ["", "gzip"])
def test_what_has_arrived_whole_is_cut_too(name):
    prefix = BodyPrefix(10)
    coded = coder(name)(b"0123456789 and more")
    prefix.take(coded)

    assert prefix.decoded(coded, name) == b"0123456789"
    assert prefix.is_cut


def test_a_short_body_is_whole_and_must_be():
    coded = gzip.compress(b"text")
    prefix = BodyPrefix(1000)
    assert prefix.take(coded)

    assert prefix.decoded(coded, "gzip") == b"text"
    assert not prefix.is_cut
    with pytest.raises(FetchError, match="truncated"):
        prefix.decoded(coded[:-9], "gzip")
