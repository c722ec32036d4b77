import copy
import inspect
import pickle

import pytest

from crawler import errors
from crawler.data import Request
from crawler.errors import (
    AnalyzeError,
    CrawlerError,
    DownloadError,
    DropItem,
    FetchError,
    InvalidURL,
    ModuleError,
    PipelineError,
    Refused,
    TimeLimit,
)

REQUEST = Request("http://site.test/", id="7f")
CLASSES = [
    value
    for value in vars(errors).values()
    if inspect.isclass(value) and issubclass(value, BaseException)
]


def test_the_tree_in_the_docstring_names_every_exception():
    drawn = inspect.getdoc(errors)

    assert [cls.__name__ for cls in CLASSES if cls.__name__ not in drawn] == []


@pytest.mark.parametrize("cls", CLASSES)
def test_one_base_catches_every_error_and_nothing_else(cls):
    signals = {DropItem, TimeLimit, InvalidURL}

    assert issubclass(cls, CrawlerError) == (cls not in signals)


def test_the_signals_are_what_user_code_expects_of_them():
    assert issubclass(InvalidURL, ValueError)
    assert issubclass(DropItem, Exception)
    # `except Exception` in user code must not swallow it.
    assert not issubclass(TimeLimit, Exception)


@pytest.mark.parametrize(
    ("cls", "kind"),
    [
        (ModuleError, "module"),
        (DownloadError, "download"),
        (AnalyzeError, "parse"),
        (PipelineError, "process"),
    ],
)
def test_a_module_error_carries_module_request_reason_and_kind(cls, kind):
    error = cls("D1", REQUEST, "OSError: no route")

    assert str(error) == "D1 failed on http://site.test/ [7f]: OSError: no route"
    assert (error.module, error.request, error.reason) == ("D1", REQUEST, "OSError: no route")
    assert error.kind == kind
    assert isinstance(error, ModuleError)


def test_a_module_error_may_be_of_a_finer_kind():
    error = DownloadError("D1", REQUEST, "no answer", "timeout")

    assert error.kind == "timeout"
    assert DownloadError.kind == "download"


def test_the_cause_of_a_module_error_is_kept_as_it_was():
    cause = OSError(101, "no route")

    with pytest.raises(DownloadError) as caught:
        raise DownloadError("D1", REQUEST, "no route") from cause

    assert caught.value.__cause__ is cause
    assert caught.value.__cause__.errno == 101


def test_a_fetch_error_says_its_kind_and_detail():
    error = FetchError("dns", "no such host: site.test")

    assert str(error) == "dns: no such host: site.test"
    assert (error.kind, error.detail) == ("dns", "no such host: site.test")


@pytest.mark.parametrize(
    "error",
    [
        Refused({"ftp://a/": "scheme"}),
        TimeLimit(1.5),
        InvalidURL("http://[", "not a URL"),
        FetchError("tls", "expired"),
        DownloadError("D1", REQUEST, "no answer", "timeout"),
        AnalyzeError("A1", REQUEST, "KeyError"),
    ],
)
def test_a_copy_of_an_error_is_like_the_error(error):
    again = copy.copy(error)

    assert type(again) is type(error)
    assert str(again) == str(error)
    assert vars(again) == vars(error)


@pytest.mark.parametrize(
    "error", [FetchError("dns", "no such host"), InvalidURL("http://["), TimeLimit(1.5)]
)
def test_an_error_crosses_processes_whole(error):
    again = pickle.loads(pickle.dumps(error))

    assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))


def test_a_refusal_names_each_url_and_its_reason():
    error = Refused({"ftp://a.test/": "scheme", "http://b.test/": "domain"})

    assert str(error) == (
        "no first request was admitted: ftp://a.test/ (scheme), http://b.test/ (domain)"
    )
    assert error.reasons == {"ftp://a.test/": "scheme", "http://b.test/": "domain"}


def test_a_refusal_of_many_shows_a_few_and_keeps_all():
    error = Refused({f"http://{n}.test/": "domain" for n in range(1000)})

    assert str(error).count("(domain)") == 5
    assert len(error.reasons) == 1000


def test_refused_without_requests_says_that_there_was_none():
    assert str(Refused({})) == (
        "no first request was admitted: there was none; set start_urls, or yield requests from start()"
    )
    assert str(Refused({"example.org": "invalid"})).endswith(
        "example.org (invalid); a URL needs http:// or https:// and a host"
    )


def test_the_reasons_of_a_refusal_are_its_own():
    reasons = {"ftp://a/": "scheme"}
    error = Refused(reasons)

    reasons.clear()

    assert error.reasons == {"ftp://a/": "scheme"}


def test_a_time_limit_prints_its_seconds():
    assert str(TimeLimit(1.5)) == "took longer than 1.5 s"
    assert TimeLimit(60.0).seconds == 60.0


def test_an_invalid_url_prints_the_start_of_the_text_and_keeps_all_of_it():
    error = InvalidURL("http://[" + "x" * 10_000)

    assert str(error).startswith("not a URL: 'http://[xxx")
    assert len(str(error)) < 300
    assert len(error.url) == 10_008


def test_a_line_break_in_a_url_does_not_break_the_log():
    assert "\n" not in str(InvalidURL("http://a\nb"))


def test_an_errback_of_scrapy_is_told_what_to_use():
    error = FetchError("dns", "no address")

    with pytest.raises(AttributeError, match=r"no attribute 'check'; use isinstance\(error"):
        error.check(ValueError)
    with pytest.raises(AttributeError, match=r"no attribute 'value'; error\.response"):
        error.value.response
    with pytest.raises(AttributeError, match=r"no attribute 'getErrorMessage'; use error\.kind"):
        error.getErrorMessage()
    with pytest.raises(AttributeError, match=r"no attribute 'other'$"):
        error.other
