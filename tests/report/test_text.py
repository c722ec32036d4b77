from hypothesis import example, given
from hypothesis import strategies as st

from crawler.report.text import clock, printable, printable_lines, size


@given(st.text())
@example("\x1b]0;pwned\x07")
@example("\x9b31m")
@example("a\u202eb\u2028c\r\nd\x7f\ud800")
def test_printable_text_has_no_control_characters(text):
    shown = printable(text)

    assert shown.isprintable()
    assert printable(shown) == shown
    assert all(line.isprintable() for line in printable_lines(text).split("\n"))


def test_escaped_characters_stay_readable():
    assert printable("/\x1b]0;pwned\x07/é") == r"/\x1b]0;pwned\x07/é"
    assert printable(ValueError("a\nb")) == r"a\nb"
    assert printable_lines("a\nb\tc") == "a\nb\\tc"


def test_a_password_is_not_shown():
    text = "connect: http://user:s3cr3t@host/p and https://:t0ken@host:8443/ but not a:b@c"

    assert printable(text) == (
        "connect: http://user:…@host/p and https://:…@host:8443/ but not a:b@c"
    )


def test_figures_are_short():
    assert [size(n) for n in (0, 999, 1000, 12_345, 999_999, 5e9)] == [
        "0 B",
        "999 B",
        "1 kB",
        "12.3 kB",
        "1 MB",
        "5 GB",
    ]
    assert [clock(n) for n in (0, 59.6, 200, 3723)] == ["0:00", "1:00", "3:20", "1:02:03"]
