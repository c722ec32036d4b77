import urllib.error
import urllib.request

import gevent
import pytest
from gevent.pywsgi import WSGIServer

from crawler.data import Request, Response
from crawler.errors import DownloadError
from crawler.headers import Headers
from crawler.module import Downloader

URL = "http://site.test/"
PAGES = {
    "/robots.txt": ("200 OK", b"User-agent: *\nDisallow: /private\n"),
    "/gone": ("410 Gone", b"gone"),
    "/broken": ("500 Internal Server Error", b"broken"),
    "/moved": ("301 Moved Permanently", b"moved"),
}


class KeepRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args):
        return None


def fetch(request):
    """Fetch over a real connection, by the standard library."""
    opener = urllib.request.build_opener(KeepRedirects)
    try:
        answer = opener.open(request.url, timeout=request.timeout or 5)
    except urllib.error.HTTPError as error:
        answer = error
    with answer:
        return Response(
            answer.url, answer.status, Headers(answer.headers.items()), answer.read(), request
        )


@pytest.fixture
def site():
    def serve(environ, start_response):
        if environ["PATH_INFO"] == "/slow":
            gevent.sleep(5)
        status, body = PAGES.get(environ["PATH_INFO"], ("404 Not Found", b"none"))
        start_response(status, [("Location", "/robots.txt")] if status.startswith("3") else [])
        return [body]

    server = WSGIServer(("127.0.0.1", 0), serve, log=None)
    server.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.stop(timeout=0)


def test_downloads_a_page_and_keeps_the_depth_of_its_request(site):
    downloader = Downloader(fetch)
    request = Request(site + "/robots.txt", depth=4)

    with gevent.Timeout(120):
        response = downloader.download(request)

    assert response.reader().readline() == b"User-agent: *\n"
    assert response.request is request
    assert response.depth == 4


@pytest.mark.parametrize(
    ("path", "status"), [("/gone", 410), ("/broken", 500), ("/moved", 301), ("/missing", 404)]
)
def test_any_status_is_an_answer(site, path, status):
    downloader = Downloader(fetch)

    with gevent.Timeout(120):
        response = downloader.download(Request(site + path))

    assert response.status == status
    assert downloader.counts.completed == 1


def test_a_server_that_does_not_answer_is_a_timeout(site):
    downloader = Downloader(fetch)
    request = Request(site + "/slow", timeout=0.05)

    with pytest.raises(DownloadError) as caught, gevent.Timeout(120):
        downloader.download(request)

    assert caught.value.kind == "timeout"
    assert caught.value.request is request
    assert downloader.counts.completed == 0


def test_a_missing_server_is_a_failure():
    request = Request("http://127.0.0.1:1/")

    with pytest.raises(DownloadError, match=r"127\.0\.0\.1:1/") as caught, gevent.Timeout(120):
        Downloader(fetch).download(request)

    assert isinstance(caught.value.__cause__, OSError)


@pytest.mark.parametrize("given", [None, 5, "curl", object()])
def test_a_fetch_that_is_not_a_function_is_refused(given):
    with pytest.raises(ValueError, match="fetch must be a function from Request to Response"):
        Downloader(given)


@pytest.mark.parametrize("answer", [None, b"<html>", "<html>", 200, {"status": 200}])
def test_a_result_that_is_not_a_response_is_an_error_that_names_the_function(answer):
    def fetch_wrongly(request):
        return answer

    downloader = Downloader(fetch_wrongly)

    with pytest.raises(DownloadError, match=r"fetch_wrongly returned .*, not a Response"):
        downloader.download(Request(URL))

    assert downloader.counts.completed == 0


def test_a_wrong_answer_is_not_printed_whole():
    with pytest.raises(DownloadError) as caught:
        Downloader(lambda request: b"x" * 1_000_000).download(Request(URL))

    assert len(str(caught.value)) < 1000


def test_a_response_that_forgot_its_request_gets_it_back():
    downloader = Downloader(lambda request: Response(request.url, 200, body=b"page"))
    request = Request(URL, depth=3, meta={"shop": 7})

    response = downloader.download(request)

    assert response.request is request
    assert (response.depth, response.body) == (3, b"page")


def test_a_response_to_the_same_request_as_sent_stays_as_it_is():
    def fetch_signed(request):
        return Response(URL, 200, request=request.replace(headers={"Signature": "x"}))

    response = Downloader(fetch_signed).download(Request(URL))

    assert response.request.headers["signature"] == "x"


def test_what_is_being_received_is_known_to_the_fetch_function_or_to_nobody():
    class Fetch:
        def __call__(self, request):
            return Response(request.url, 200)

        def receiving(self):
            return 7

    assert Downloader(Fetch()).receiving() == 7
    assert Downloader(Fetch().__call__).receiving() == 0
    assert Downloader(Fetch().__call__, receiving=lambda: 5).receiving() == 5


def test_a_body_is_saved_by_whichever_fetch_function(tmp_path):
    downloader = Downloader(lambda request: Response(request.url, 200, body=b"x", request=request))

    response = downloader.download(Request(URL, save_to=tmp_path / "file"))

    assert (response.body, response.size) == (b"", 1)
    assert (tmp_path / "file").read_bytes() == b"x"


def test_a_file_that_cannot_be_written_is_a_failed_download(tmp_path):
    downloader = Downloader(lambda request: Response(request.url, 200, body=b"x", request=request))
    (tmp_path / "file").touch()

    with pytest.raises(DownloadError) as caught:
        downloader.download(Request(URL, save_to=tmp_path / "file" / "deeper"))

    assert caught.value.kind == "disk"
