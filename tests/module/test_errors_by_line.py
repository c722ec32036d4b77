import json

from crawler.data import Request
from crawler.errors import AnalyzeError, DownloadError, FetchError, PipelineError
from crawler.module.errors_by_line import ErrorsByLine


def error(cause, url="http://site.test/", kind=AnalyzeError):
    made = kind("A1", Request(url), f"{type(cause).__name__}: {cause}")
    made.__cause__ = cause
    return made


def at(file, line, text="'price'"):
    cause = KeyError(text)
    cause.place = (file, line)
    return cause


def test_errors_of_one_line_and_type_are_one_entry():
    errors = ErrorsByLine()

    for number in range(17):
        text = errors.add(error(at("/home/quotes.py", 42, number), f"http://site.test/{number}"))
    errors.add(error(at("/home/quotes.py", 50), kind=PipelineError))

    assert [str(line) for line in errors.most()] == [
        "quotes.py:42 KeyError: 0 × 17, first http://site.test/0",
        "quotes.py:50 KeyError: \"'price'\", first http://site.test/",
    ]
    assert errors.most(1)[0].is_of(text)
    assert not errors.most()[1].is_of(text)


def test_pages_that_could_not_be_fetched_are_not_errors_of_a_line():
    errors = ErrorsByLine()

    missing = error(FetchError("http_404", "no"))
    missing.kind = "http_404"

    assert errors.add(missing) == ""
    assert errors.add(error(FetchError("dns", "no"), kind=DownloadError)) == ""
    assert errors.most() == []


def test_what_is_kept_is_bounded_and_the_rest_counted():
    errors = ErrorsByLine()

    for line in range(1000):
        errors.add(error(at("/spider.py", line, "x" * 10_000), "http://site.test/" + "y" * 10_000))

    assert len(errors.most()) == 50
    assert errors.others == 950
    assert len(json.dumps(errors.changes())) < 500_000


def test_another_process_continues_to_count():
    errors, later = ErrorsByLine(), ErrorsByLine()
    errors.add(error(at("/spider.py", 1)))

    later.continue_from(json.loads(json.dumps(errors.changes())))
    later.add(error(at("/spider.py", 1)))

    assert errors.changes() is None
    assert [line.number for line in later.most()] == [2]


def test_only_the_first_error_of_a_line_is_logged(caplog):
    errors = ErrorsByLine()

    for _ in range(3):
        errors.add(error(at("/home/quotes.py", 42)))

    assert len(caplog.messages) == 1
    assert "quotes.py:42 KeyError" in caplog.messages[0]
