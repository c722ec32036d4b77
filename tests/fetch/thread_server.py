"""A server in threads of its own, which replies while the hub does not run."""

from gevent.monkey import get_original

_socket = get_original("socket", "socket")
_sleep = get_original("time", "sleep")
_start_thread = get_original("_thread", "start_new_thread")


class ThreadServer:
    """Replies to all requests with *reply*, each *delay* seconds after it has come."""

    def __init__(self, reply, delay=0.0):
        self.asked = 0
        self._reply, self._delay = reply, delay
        self._server = _socket()

    def __enter__(self):
        self._server.bind(("127.0.0.1", 0))
        self._server.listen()
        self.url = f"http://127.0.0.1:{self._server.getsockname()[1]}/"
        _start_thread(self._accept, ())
        return self

    def __exit__(self, *_):
        self._server.shutdown(2)  # ends the wait for connections
        self._server.close()

    def _accept(self):
        while True:
            try:
                descriptor, _ = self._server._accept()  # accept() makes one that gevent has patched
            except OSError:
                return
            _start_thread(self._serve, (_socket(fileno=descriptor),))

    def _serve(self, client):
        with client:
            while b"\r\n\r\n" in client.recv(65536):
                self.asked += 1
                _sleep(self._delay)
                client.sendall(self._reply)
