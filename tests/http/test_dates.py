from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.data import Response
from crawler.headers import Headers
from crawler.http.dates import http_date, retry_after

HOME = "http://site.test/"

#: The three forms of a date in HTTP (RFC 9110, 5.6.7).
IMF = "%a, %d %b %Y %H:%M:%S GMT"
RFC_850 = "%A, %d-%b-%y %H:%M:%S GMT"
ASCTIME = "%a %b %e %H:%M:%S %Y"


def asked(text):
    return retry_after(Response(HOME, 503, Headers({"Retry-After": text})))


@pytest.mark.parametrize("form", [IMF, RFC_850, ASCTIME])
def test_each_form_of_a_date_is_read(form):
    when = datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)

    assert http_date(when.strftime(form)) == 1_700_000_000.0


def test_a_date_keeps_its_time_zone():
    assert http_date("Wed, 15 Nov 2023 03:13:20 +0500") == 1_700_000_000.0


@pytest.mark.parametrize("text", ["", "0", "soon", "Mon, 99 Foo 2030 99:99:99 GMT"])
def test_an_invalid_date_is_none(text):
    assert http_date(text) is None


# -- Retry-After --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "seconds"), [("0", 0.0), ("1", 1.0), ("120", 120.0), (" 7 ", 7.0), ("007", 7.0)]
)
def test_seconds(text, seconds):
    assert asked(text) == seconds


@pytest.mark.parametrize("form", [IMF, RFC_850, ASCTIME])
def test_each_form_of_a_date(form):
    when = datetime.now(UTC) + timedelta(seconds=3600)

    seconds = asked(when.strftime(form))

    assert 3500 < seconds <= 3600


@pytest.mark.parametrize("form", [IMF, RFC_850, ASCTIME])
def test_a_date_that_is_past_asks_for_nothing(form):
    when = datetime.now(UTC) - timedelta(days=400)

    assert asked(when.strftime(form)) == 0.0


def test_a_date_in_another_zone_is_meant_there():
    when = datetime.now(UTC) + timedelta(hours=1)

    assert 3500 < asked((when + timedelta(hours=5)).strftime("%a, %d %b %Y %H:%M:%S +0500")) <= 3600


def test_a_missing_header_asks_for_nothing():
    assert retry_after(Response(HOME, 503)) is None


@pytest.mark.parametrize(
    "junk",
    [
        "",
        "soon",
        "-5",
        "+5",
        "1.5",
        "1e3",
        "0x10",
        "٣",
        "²",
        "5 minutes",
        "120, 120",
        "Mon, 99 Foo 2030 99:99:99 GMT",
        "Mon, 01 Jan 99999 00:00:00 GMT",
        "Mon, 01 Jan 2024 00:00:00 +99999999999999999999",
        "Mon, 01 Jan 0001 00:00:00 +2359 \x00",
        "None",
        "," * 50,
    ],
)
def test_an_invalid_retry_after_is_ignored(junk):
    assert asked(junk) in (None, 0.0)
    if not junk.startswith("Mon"):
        assert asked(junk) is None


def test_a_huge_number_is_a_number():
    assert asked("9" * 4000) > 1e9


@given(st.text(max_size=60))
def test_no_text_raises(text):
    seconds = asked(text)

    assert seconds is None or seconds >= 0


@given(
    st.from_regex(
        r"(Mon, )?[0-9]{1,3} (Jan|Feb) [0-9]{1,6} [0-9]{1,3}:[0-9]{1,2}:[0-9]{1,2} ?[+-]?[0-9]{0,25}"
    )
)
def test_no_date_raises(text):
    seconds = asked(text)

    assert seconds is None or seconds >= 0
