import gzip

import pytest

from crawler.scheduler.page_size import LARGE, MIB, analysis_size

#: Pages, and the bytes that their Lexbor tree took for each byte of the page.
SHAPES = {
    "links": (b"<a href=abcde>", 38),
    "attributes": (b"<p a=1 b=2 c=3 d=4 e=5>x", 72),
    "attributes without values": (b"<p a b c d e f g h i j k l>", 113),
    "attributes without blanks": (b"<p/a/b/c/d/e/f/g>", 116),
    "quoted attributes": (b'<p a="1"b="2"c="3"d="4">', 58),
    "elements": (b"<b>x</b>", 43),
    "nothing but elements": (b"<p>", 65),
    "nested": (b"<div><span>x</span></div>", 22),
}


@pytest.mark.parametrize("name", SHAPES)
def test_trees_are_taken_for_about_what_they_are(name):
    unit, times = SHAPES[name]
    body = unit * (2 * MIB // len(unit))

    assert times / 2 * len(body) < analysis_size(body) < 3 * times * len(body)
    assert analysis_size(body) > LARGE


def test_what_is_dense_in_one_part_only_is_not_overlooked():
    body = b"x" * MIB + b"<a href=abcde>" * (MIB // 14)

    assert analysis_size(body) > 10 * MIB


@pytest.mark.parametrize("size", [0, 1, 1000, 256 * 1024])
def test_a_short_page_is_never_large(size):
    assert analysis_size(b"<p>" * (size // 3)) < LARGE


def test_a_long_line_without_markup_is_not_large():
    assert analysis_size(b"x" * 10 * MIB) < LARGE


def test_a_long_page_of_a_few_long_links_is_large():
    link = b"<a href=/%s>" % (b"a" * 1900)

    assert analysis_size(link * (2 * MIB // len(link))) >= LARGE
    assert analysis_size(link * (MIB // 2 // len(link))) < LARGE


def test_a_gzip_file_is_taken_for_what_it_may_have_when_it_is_unpacked():
    packed = gzip.compress(b"<url><loc>" * (5 * MIB))

    assert len(packed) < MIB
    assert 100 * MIB < analysis_size(packed) < 200 * MIB
    assert analysis_size(gzip.compress(b"<url><loc>")) < MIB
