"""How libcurl's error codes map to the kinds of a FetchError."""

from __future__ import annotations

from http import HTTPStatus

import pycurl

from ...data import Request
from ...errors import FetchError
from ..file_descriptors import none_left
from .handle import Failure, Handle

#: Codes of libcurl that pycurl does not name.
_E_HTTP2_STREAM = 92
_E_PROXY = 97
_E_TOO_LARGE = 100

#: How the messages of E_RECV_ERROR begin when the connection broke.
_CONNECTION_BROKE = ("Recv failure", "OpenSSL SSL_read")

_KINDS = {
    pycurl.E_UNSUPPORTED_PROTOCOL: "protocol",
    pycurl.E_URL_MALFORMAT: "bad_request",
    pycurl.E_COULDNT_RESOLVE_PROXY: "proxy",
    pycurl.E_COULDNT_RESOLVE_HOST: "dns",
    pycurl.E_COULDNT_CONNECT: "connect",
    pycurl.E_FTP_WEIRD_SERVER_REPLY: "protocol",
    pycurl.E_HTTP2: "protocol",
    pycurl.E_PARTIAL_FILE: "truncated",
    pycurl.E_OPERATION_TIMEDOUT: "timeout",
    pycurl.E_SSL_CONNECT_ERROR: "tls",
    pycurl.E_PEER_FAILED_VERIFICATION: "tls",
    pycurl.E_SSL_CERTPROBLEM: "tls",
    pycurl.E_SSL_CIPHER: "tls",
    pycurl.E_SSL_CACERT_BADFILE: "tls",
    pycurl.E_SSL_ISSUER_ERROR: "tls",
    pycurl.E_SSL_INVALIDCERTSTATUS: "tls",
    pycurl.E_BAD_CONTENT_ENCODING: "bad_encoding",
    _E_HTTP2_STREAM: "protocol",
    _E_TOO_LARGE: "too_large",
}

#: The codes with which libcurl reports that an address was refused to it.
_BLOCKED = frozenset({pycurl.E_COULDNT_CONNECT, pycurl.E_ABORTED_BY_CALLBACK})

#: What a SOCKS proxy has answered if not itself but the site failed, by libcurl's number:
#: refused, host or network unreachable, too many hops; and a name that libcurl had to look up.
_BEHIND_A_PROXY = {19: "connect", 21: "connect", 22: "connect", 24: "connect", 27: "dns"}

#: The codes with which libcurl reports that it cannot open a file, a socket or a pipe.
_WITHOUT_DESCRIPTORS = frozenset(
    {
        pycurl.E_COULDNT_RESOLVE_PROXY,
        pycurl.E_COULDNT_RESOLVE_HOST,
        pycurl.E_COULDNT_CONNECT,
        pycurl.E_SSL_CACERT_BADFILE,
        pycurl.E_OUT_OF_MEMORY,
        pycurl.E_FAILED_INIT,
    }
)


def fetch_error(failure: Failure, handle: Handle, request: Request) -> FetchError:
    """Return the error for *failure*, with which the transfer of *request* by *handle* ended."""
    code, text = failure
    text = text or handle.easy.errstr()
    if handle.receiver is not None and handle.receiver.failure is not None:
        return handle.receiver.failure
    if handle.is_lost:
        return FetchError("network", "the server closed the connection, or refused the request")
    if handle.sockets.blocked_address and code in _BLOCKED:
        return FetchError("blocked_address", handle.sockets.blocked_address)
    if handle.sockets.out_of_descriptors or (code in _WITHOUT_DESCRIPTORS and none_left()):
        return FetchError("descriptors", "this process has no file descriptor left")
    if code == _E_PROXY:
        answer = handle.easy.getinfo(pycurl.PROXY_ERROR)
        return FetchError(_BEHIND_A_PROXY.get(answer, "proxy"), text)
    if request.proxy and _proxy_failed(code, handle):
        return FetchError("proxy", text)
    if handle.header_size > handle.limits.headers:
        return FetchError("too_large", text)
    if code == pycurl.E_FILESIZE_EXCEEDED:
        return _too_large(handle)
    if code == pycurl.E_RECV_ERROR:
        return FetchError(_kind_of_broken_reply(text, handle), text)
    return FetchError(_KINDS.get(code, "network"), text)


def _too_large(handle: Handle) -> FetchError:
    is_saved = handle.receiver is not None
    limit, setting = (
        (handle.limits.file, "max_file") if is_saved else (handle.limits.body, "max_body")
    )
    return FetchError("too_large", f"the body is larger than {limit} bytes (setting: {setting})")


def _proxy_failed(code: int, handle: Handle) -> bool:
    """Return whether the proxy failed, and not the site behind it."""
    refused = handle.easy.getinfo(pycurl.HTTP_CONNECTCODE) >= HTTPStatus.MULTIPLE_CHOICES
    return refused or code in {pycurl.E_COULDNT_CONNECT, pycurl.E_COULDNT_RESOLVE_PROXY}


def _kind_of_broken_reply(text: str, handle: Handle) -> str:
    """Distinguish a broken connection from broken framing: libcurl has one code for both."""
    if not text.startswith(_CONNECTION_BROKE):
        return "protocol"
    return "truncated" if handle.has_head else "network"
