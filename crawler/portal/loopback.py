"""Servers of this process on the loopback interface."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import gevent
from gevent.pool import Pool
from gevent.pywsgi import LoggingLogAdapter, WSGIServer

from .access import Access

if TYPE_CHECKING:
    from wsgiref.types import WSGIApplication

log = logging.getLogger(__name__)

_HOST = "127.0.0.1"
#: The number of connections that are served at a time.
_CONNECTIONS = 200


def listen(port: int) -> Any:
    """Return a socket that listens on *port*, or on a free one if that is 0."""
    listener = gevent.socket.socket()
    listener.setsockopt(gevent.socket.SOL_SOCKET, gevent.socket.SO_REUSEADDR, 1)
    try:
        listener.bind((_HOST, port))
        listener.listen()
    except OSError:
        listener.close()
        raise
    return listener


def url_of(listener: Any, token: str) -> str:
    return f"http://{_HOST}:{listener.getsockname()[1]}/{token}/"


def serve(listener: Any, app: WSGIApplication, token: str) -> WSGIServer:
    """Return a server of *app*, which has begun, for those who have the *token*."""
    server = WSGIServer(
        listener,
        Access(app, token),
        spawn=Pool(_CONNECTIONS),
        log=None,
        error_log=LoggingLogAdapter(log, logging.WARNING),
    )
    server.start()
    return server
