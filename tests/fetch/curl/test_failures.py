import pycurl
import pytest

from crawler.data import Request
from crawler.fetch import Limits, any_address
from crawler.fetch.curl.failures import fetch_error
from crawler.fetch.curl.handle import Handle
from crawler.fetch.curl.kept_connections import KeptConnections

PLAIN = Request("http://site.test/")
PROXIED = Request("http://site.test/", proxy="http://proxy.test:3128")


@pytest.fixture
def handle():
    handle = Handle({}, Limits(), any_address, KeptConnections())
    yield handle
    handle.close()


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (pycurl.E_COULDNT_RESOLVE_HOST, "dns"),
        (pycurl.E_COULDNT_CONNECT, "connect"),
        (pycurl.E_PEER_FAILED_VERIFICATION, "tls"),
        (pycurl.E_OPERATION_TIMEDOUT, "timeout"),
        (pycurl.E_PARTIAL_FILE, "truncated"),
        (pycurl.E_BAD_CONTENT_ENCODING, "bad_encoding"),
        (pycurl.E_HTTP2, "protocol"),
        (92, "protocol"),
        (pycurl.E_URL_MALFORMAT, "bad_request"),
        (pycurl.E_SEND_ERROR, "network"),
    ],
)
def test_each_code_has_a_kind(handle, code, kind):
    error = fetch_error((code, "it failed"), handle, PLAIN)

    assert (error.kind, error.detail) == (kind, "it failed")


@pytest.mark.parametrize(
    ("request_", "detail"),
    [
        (PLAIN, "larger than 5 bytes (setting: max_body)"),
        (PLAIN.replace(save_to="x"), "larger than 7 bytes (setting: max_file)"),
    ],
    ids=["in memory", "to a file"],
)
def test_a_body_that_is_too_large_names_its_limit(request_, detail):
    handle = Handle({}, Limits(body=5, file=7), any_address, KeptConnections())
    handle.prepare(request_)

    error = fetch_error((pycurl.E_FILESIZE_EXCEEDED, "it failed"), handle, request_)
    handle.close()

    assert (error.kind, error.detail) == ("too_large", f"the body is {detail}")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Recv failure: Connection reset by peer", "network"),
        ("OpenSSL SSL_read: unexpected eof", "network"),
        ("Illegal or missing hexadecimal sequence in chunked-encoding", "protocol"),
    ],
)
def test_the_text_distinguishes_a_broken_connection_from_broken_framing(handle, text, kind):
    assert fetch_error((pycurl.E_RECV_ERROR, text), handle, PLAIN).kind == kind


@pytest.mark.parametrize("code", [pycurl.E_COULDNT_CONNECT, pycurl.E_COULDNT_RESOLVE_PROXY, 97])
def test_a_proxy_that_cannot_be_used_is_the_proxys_failure(handle, code):
    assert fetch_error((code, "no"), handle, PROXIED).kind == "proxy"


def test_a_timeout_behind_a_proxy_is_not_the_proxys_failure(handle):
    assert fetch_error((pycurl.E_OPERATION_TIMEDOUT, "late"), handle, PROXIED).kind == "timeout"


def test_a_refused_address_is_named(handle):
    handle.sockets.blocked_address = "127.0.0.1:80 is not allowed"

    error = fetch_error((pycurl.E_COULDNT_CONNECT, ""), handle, PLAIN)

    assert (error.kind, error.detail) == ("blocked_address", "127.0.0.1:80 is not allowed")


def test_a_connection_that_ended_with_a_request_is_named(handle):
    handle.is_lost = True

    error = fetch_error((pycurl.E_ABORTED_BY_CALLBACK, ""), handle, PLAIN)

    assert (error.kind, "closed the connection" in error.detail) == ("network", True)


def test_a_lack_of_descriptors_outweighs_the_code(handle):
    handle.sockets.out_of_descriptors = True

    assert fetch_error((pycurl.E_COULDNT_CONNECT, ""), handle, PROXIED).kind == "descriptors"
