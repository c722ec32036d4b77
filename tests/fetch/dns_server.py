"""A name server on the loopback interface."""

import struct

from gevent import socket
from gevent.server import DatagramServer, StreamServer

A, AAAA = 1, 28
#: What a name may have instead of addresses.
SILENCE, BROKEN = "no answer", "SERVFAIL"


class NameServer:
    """
    Answers with the addresses in *names*; other names do not exist.

    With *by_tcp*, every answer over UDP says that it is too long for UDP. `asked` has the names
    that were asked for, once for each query over UDP.
    """

    def __init__(self, names, by_tcp=False):
        self.names = names
        self.asked = []
        self.asked_by_tcp = []
        self._by_tcp = by_tcp

    def __enter__(self):
        for last in [False] * 20 + [True]:
            try:
                self._start()
            except OSError:  # another program has the port, for UDP only
                if last:
                    raise
            else:
                return self

    def _start(self):
        self._tcp = StreamServer(("127.0.0.1", 0), self._answer_tcp)
        self._tcp.start()
        self.port = self._tcp.server_port
        self._udp = DatagramServer(("127.0.0.1", self.port), self._answer_udp)
        try:
            self._udp.start()
        except OSError:
            self._tcp.stop()
            raise

    def __exit__(self, *_):
        self._udp.stop()
        self._tcp.stop(timeout=0)

    @property
    def options(self):
        """How c-ares finds this server."""
        return {"servers": ["127.0.0.1"], "udp_port": self.port, "tcp_port": self.port}

    def _answer_udp(self, query, client):
        name, _, end = _question(query)
        self.asked.append(name)
        reply = _reply(query[:end], [], 0x8380) if self._by_tcp else self._reply(query)
        if reply:
            self._udp.sendto(reply, client)

    def _answer_tcp(self, client, _peer):
        stream = client.makefile("rb")
        while length := stream.read(2):
            query = stream.read(int.from_bytes(length, "big"))
            self.asked_by_tcp.append(_question(query)[0])
            reply = self._reply(query)
            client.sendall(len(reply).to_bytes(2, "big") + reply)

    def _reply(self, query):
        name, kind, end = _question(query)
        found = self.names.get(name)
        if found == SILENCE:
            return b""
        if found is None or found == BROKEN:
            return _reply(query[:end], [], 0x8182 if found else 0x8183)
        family = {A: socket.AF_INET, AAAA: socket.AF_INET6}.get(kind)
        packed = [socket.inet_pton(family, ip) for ip in found if (":" in ip) == (kind == AAAA)]
        return _reply(query[:end], [(kind, address) for address in packed], 0x8180)


def _question(query):
    """Return the name that *query* asks for, the type of record, and where the question ends."""
    labels, at = [], 12
    while length := query[at]:
        labels.append(query[at + 1 : at + 1 + length].decode())
        at += 1 + length
    return ".".join(labels).lower(), int.from_bytes(query[at + 1 : at + 3], "big"), at + 5


def _reply(question, answers, flags):
    head = question[:2] + struct.pack("!HHHHH", flags, 1, len(answers), 0, 0)
    records = (
        struct.pack("!HHHIH", 0xC00C, kind, 1, 60, len(address)) + address
        for kind, address in answers
    )
    return head + question[12:] + b"".join(records)
