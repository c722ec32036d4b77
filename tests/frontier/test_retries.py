from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.data import Headers, Request, Response
from crawler.errors import DownloadError
from crawler.frontier import Retries
from crawler.frontier.retries import HOST_KINDS, retry_after

HOME = "http://site.test/"

#: The three forms of a date that HTTP knows (RFC 9110, 5.6.7).
IMF = "%a, %d %b %Y %H:%M:%S GMT"
RFC_850 = "%A, %d-%b-%y %H:%M:%S GMT"
ASCTIME = "%a %b %e %H:%M:%S %Y"


def asked(text):
    return retry_after(Response(HOME, 503, Headers({"Retry-After": text})))


def failure(kind):
    return DownloadError("D1", Request(HOME), "no", kind)


def answer(status):
    return Response(HOME, status)


# -- Retries ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"attempts": 0}, "attempts must be at least 1, not 0"),
        ({"attempts": -1}, "attempts must be at least 1, not -1"),
        ({"attempts": 2.0}, "attempts must be at least 1, not 2.0"),
        ({"attempts": True}, "attempts must be at least 1, not True"),
        ({"attempts": None}, "attempts must be at least 1, not None"),
        ({"wait": -0.1}, "wait must be 0 or more seconds, not -0.1"),
        ({"wait": float("nan")}, "wait must be 0 or more seconds, not nan"),
    ],
)
def test_retries_say_what_is_wrong_with_them(wrong, complaint):
    with pytest.raises(ValueError, match=complaint):
        Retries(**wrong)


def test_the_number_of_attempts_includes_the_first():
    retries = Retries(attempts=3)

    assert retries.worth_another(answer(500), 1)
    assert retries.worth_another(answer(500), 2)
    assert not retries.worth_another(answer(500), 3)
    assert not retries.worth_another(answer(500), 4)
    assert not Retries(attempts=1).worth_another(failure("dns"), 1)


@pytest.mark.parametrize(
    "kind",
    ["dns", "connect", "tls", "timeout", "network", "proxy", "truncated", "protocol"],
)
def test_failures_that_may_pass_are_worth_another_try(kind):
    assert Retries().worth_another(failure(kind), 1)


@pytest.mark.parametrize("kind", ["too_large", "bad_request", "blocked_address", "parse", "killed"])
def test_failures_that_stay_are_not(kind):
    assert not Retries().worth_another(failure(kind), 1)


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504, 522, 524])
def test_answers_that_may_pass_are_worth_another_try(status):
    assert Retries().worth_another(answer(status), 1)


@pytest.mark.parametrize("status", [200, 204, 301, 304, 400, 401, 403, 404, 410, 451, 501, 505])
def test_answers_that_stay_are_not(status):
    assert not Retries().worth_another(answer(status), 1)


def test_kinds_and_statuses_can_be_chosen():
    retries = Retries(kinds=frozenset({"too_large"}), statuses=frozenset({404}))

    assert retries.worth_another(failure("too_large"), 1)
    assert retries.worth_another(answer(404), 1)
    assert not retries.worth_another(failure("dns"), 1)
    assert not retries.worth_another(answer(503), 1)


def test_what_tells_about_a_host_is_always_worth_another_try():
    assert Retries().kinds >= HOST_KINDS


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


def test_no_header_asks_for_nothing():
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
def test_what_makes_no_sense_is_as_if_it_were_not_there(junk):
    assert asked(junk) in (None, 0.0)
    if not junk.startswith("Mon"):
        assert asked(junk) is None


def test_a_huge_number_is_a_number():
    assert asked("9" * 4000) > 1e9


@given(st.text(max_size=60))
def test_no_text_does_harm(text):
    seconds = asked(text)

    assert seconds is None or seconds >= 0


@given(
    st.from_regex(
        r"(Mon, )?[0-9]{1,3} (Jan|Feb) [0-9]{1,6} [0-9]{1,3}:[0-9]{1,2}:[0-9]{1,2} ?[+-]?[0-9]{0,25}"
    )
)
def test_no_date_does_harm(text):
    seconds = asked(text)

    assert seconds is None or seconds >= 0
