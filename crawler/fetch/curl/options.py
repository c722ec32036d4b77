"""The libcurl options that all transfers of a client have in common."""

from __future__ import annotations

import os
import ssl
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pycurl

from ...http import content_coding as coding
from ..limits import Limits
from ..user_agent import user_agent as default_user_agent

#: An option of libcurl that pycurl does not name.
_SUPPRESS_CONNECT_HEADERS = 265


def transfer_options(limits: Limits, user_agent: str | None) -> dict[int, Any]:
    return {
        pycurl.NOSIGNAL: 1,
        pycurl.PROTOCOLS: pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS,
        pycurl.HTTP_VERSION: pycurl.CURL_HTTP_VERSION_2TLS,
        pycurl.HTTP09_ALLOWED: 0,
        pycurl.PATH_AS_IS: 1,
        pycurl.USERAGENT: user_agent or default_user_agent(),
        pycurl.ACCEPT_ENCODING: coding.accept_encoding(),
        pycurl.HTTP_CONTENT_DECODING: 0,
        pycurl.CONNECTTIMEOUT_MS: milliseconds(limits.connect),
        pycurl.TIMEOUT_MS: milliseconds(limits.total),
        pycurl.LOW_SPEED_LIMIT: 1,
        pycurl.LOW_SPEED_TIME: max(1, round(limits.stall)),
        pycurl.MAXFILESIZE_LARGE: limits.body,
        # Otherwise libcurl searches the entries of all hosts for old ones after each transfer.
        pycurl.DNS_CACHE_TIMEOUT: -1,
        # No proxy from the environment, and no header of the request for the proxy.
        pycurl.PROXY: "",
        pycurl.NOPROXY: "",
        pycurl.HEADEROPT: pycurl.HEADER_SEPARATE,
        _SUPPRESS_CONNECT_HEADERS: 1,
    }


def tls_options(*, verify: bool, ca_file: str | os.PathLike[str] | None) -> dict[int, Any]:
    if not verify:
        return {pycurl.SSL_VERIFYPEER: 0, pycurl.SSL_VERIFYHOST: 0}
    authorities = os.fspath(ca_file) if ca_file else _system_authorities()
    return {pycurl.CAINFO: authorities} if authorities else {}


def milliseconds(seconds: float) -> int:
    return max(1, round(seconds * 1000))


def _system_authorities() -> str | None:
    """Return the system's certificates; the path compiled into the wheel fits few systems."""
    paths = [ssl.get_default_verify_paths().cafile, "/etc/ssl/certs/ca-certificates.crt"]
    if find_spec("certifi"):
        import certifi  # noqa: PLC0415 - optional

        paths.append(certifi.where())
    return next((path for path in paths if path and Path(path).is_file()), None)
