import gevent
import pytest

from crawler.analysis.spider_analyzer import analyzer_of
from crawler.data import Request, Response
from crawler.errors import AnalyzeError, DownloadError
from crawler.middleware.spider.chain import SpiderChain
from crawler.middleware.spider.contract import HttpError, SpiderMiddleware
from crawler.spider import Spider

URL = "http://site.test/"


class Named(Spider):
    def parse(self, page):
        yield {"parsed": page.url}

    def other(self, page):
        gevent.sleep(0)
        yield 5

    def numbered(self, page, number, of=9):
        yield {"number": number, "of": of}

    def another(self, page):
        gevent.sleep(0)
        yield 5

    def errback(self, error):
        yield {"failed": error.kind}


@pytest.fixture
def analyzer():
    return analyzer_of(SpiderChain([], Named()))


def response(status=200, **fields):
    return Response(URL, status, {}, b"body", Request(URL, **fields))


def test_a_page_is_passed_to_the_callback_of_its_request_or_to_parse(analyzer):
    assert [item.value for item in analyzer.analyze(response())] == [{"parsed": URL}]

    with pytest.raises(AnalyzeError, match=r"Named\.other yielded 5"):
        list(analyzer.analyze(response(callback="other")))


def test_a_callback_gets_the_keyword_arguments_of_its_request(analyzer):
    page = response(callback="numbered", cb_kwargs={"number": 2})

    assert [item.value for item in analyzer.analyze(page)] == [{"number": 2, "of": 9}]
    with pytest.raises(AnalyzeError, match=r"Named\.parse.*unexpected keyword argument 'number'"):
        list(analyzer.analyze(response(cb_kwargs={"number": 2})))


def test_each_greenlet_names_its_own_callback_in_errors(analyzer):
    def reason(callback):
        with pytest.raises(AnalyzeError) as caught:
            list(analyzer.analyze(response(callback=callback)))
        return caught.value.reason

    names = ["other", "another", "other"]
    reasons = [gevent.spawn(reason, name) for name in names]

    for name, found in zip(names, reasons, strict=True):
        assert f"Named.{name} yielded" in found.get()


def test_an_unsuccessful_page_goes_to_the_errback_and_its_error_keeps_no_body(analyzer):
    findings = analyzer.analyze(response(404))

    assert next(findings).value == {"failed": "http_404"}
    with pytest.raises(AnalyzeError) as caught:
        next(findings)

    cause = caught.value.__cause__
    assert isinstance(cause, HttpError)
    assert cause.response.body == b""


def test_a_failed_download_goes_to_the_errback(analyzer):
    error = DownloadError("D1", Request(URL), "no such host", "dns")

    assert [item.value for item in analyzer.recover(error)] == [{"failed": "dns"}]


def test_a_middleware_gets_the_unsuccessful_pages_that_it_wants():
    class Gone(SpiderMiddleware):
        handle_httpstatus_list = [404]

        def process_response(self, response, request, spider):
            yield {"gone": response.url}

    class Other(SpiderMiddleware):
        def process_response(self, response, request, spider):
            yield {"other": response.url}

    def findings(status):
        analyzer = analyzer_of(SpiderChain([Gone, Other], Named()))
        found = []
        with pytest.raises(AnalyzeError, match=f"http_{status}"):
            found.extend(item.value for item in analyzer.analyze(Response(URL, status)))
        return found

    assert findings(404) == [{"gone": URL}, {"failed": "http_404"}]
    assert findings(500) == [{"failed": "http_500"}]
