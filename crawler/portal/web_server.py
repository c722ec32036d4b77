"""WebServer: serves a portal's app to browsers that may be slow, hostile or gone."""

from __future__ import annotations

import logging
from typing import Any

from gevent.pool import Pool
from gevent.pywsgi import LoggingLogAdapter, WSGIServer

log = logging.getLogger(__name__)

#: How many connections are served at a time; seconds that one may neither send nor take anything.
_CONNECTIONS, _SILENCE = 300, 60.0


class WebServer(WSGIServer):
    def __init__(self, listener: tuple[str, int], app: Any, **tls_options: Any) -> None:
        super().__init__(
            listener,
            app,
            spawn=Pool(_CONNECTIONS),
            log=None,
            error_log=LoggingLogAdapter(log, logging.WARNING),
            **tls_options,
        )

    def do_handle(self, sock: Any, address: Any) -> None:
        sock.settimeout(_SILENCE)
        super().do_handle(sock, address)

    def wrap_socket_and_handle(self, client_socket: Any, address: Any) -> None:
        try:
            super().wrap_socket_and_handle(client_socket, address)
        except OSError as error:  # no TLS, a certificate that is not trusted, silence
            log.info("a connection from %s has failed: %s", address[0], error)
