"""Proxies on the loopback interface."""

import gevent
from gevent import socket
from gevent.pool import Pool
from gevent.server import StreamServer


class Proxy:
    """A proxy in forty lines: forwards plain requests, opens tunnels, records both."""

    def __init__(self, refusal=b""):
        self.heads = []
        self._refusal = refusal
        self._server = StreamServer(("127.0.0.1", 0), self._serve, spawn=Pool())

    def __enter__(self):
        self._server.start()
        return self

    def __exit__(self, *_):
        self._server.stop(timeout=0)

    def url(self, user=""):
        return f"http://{user}127.0.0.1:{self._server.server_port}"

    def _serve(self, client, _peer):
        head = b""
        while b"\r\n\r\n" not in head:
            head += client.recv(65536)
        self.heads.append(head.decode())
        if self._refusal:
            client.sendall(self._refusal)
            return
        method, target, _ = head.decode().split(" ", 2)
        host, _, port = target.removeprefix("http://").partition("/")[0].partition(":")
        with socket.create_connection((host, int(port))) as server:
            if method == "CONNECT":
                client.sendall(b"HTTP/1.1 200 Connected\r\nx-proxy: 1\r\n\r\n")
            else:
                server.sendall(
                    head.replace(target.encode(), b"/" + target.split("/", 3)[3].encode(), 1)
                )
            tunnel(client, server)


class SocksProxy:
    """SOCKS5 without authentication: one greeting, one CONNECT by name or address, then a tunnel."""

    def __init__(self):
        self.targets = []
        self._server = StreamServer(("127.0.0.1", 0), self._serve, spawn=Pool())

    def __enter__(self):
        self._server.start()
        return self

    def __exit__(self, *_):
        self._server.stop(timeout=0)

    def url(self, scheme="socks5"):
        return f"{scheme}://127.0.0.1:{self._server.server_port}"

    def _serve(self, client, _peer):
        stream = client.makefile("rb")
        _, methods = stream.read(2)
        stream.read(methods)
        client.sendall(b"\x05\x00")
        _, command, _, kind = stream.read(4)
        assert command == 1
        if kind == 1:
            host = socket.inet_ntoa(stream.read(4))
        else:
            host = stream.read(stream.read(1)[0]).decode()
        port = int.from_bytes(stream.read(2), "big")
        self.targets.append((host, port))
        with socket.create_connection((host, port)) as server:
            client.sendall(b"\x05\x00\x00\x01" + bytes(6))
            tunnel(client, server)


def tunnel(client, server):
    """Copy what each side sends to the other, until one of them ends or breaks the connection."""
    gevent.joinall(
        [gevent.spawn(_pump, client, server), gevent.spawn(_pump, server, client)], count=1
    )


def _pump(source, sink):
    try:
        while data := source.recv(65536):
            sink.sendall(data)
    except OSError:
        pass
