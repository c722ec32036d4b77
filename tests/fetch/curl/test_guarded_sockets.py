"""GuardedSockets: which sockets are opened, and what is known of those that are not."""

import errno
import os
import socket
from types import SimpleNamespace

import pycurl
import pytest

from crawler import Request
from crawler.fetch import AddressGuard
from crawler.fetch.curl import guarded_sockets
from crawler.fetch.curl.guarded_sockets import GuardedSockets

REQUEST = Request("http://site.test/")


def address(ip, port=80):
    return SimpleNamespace(
        family=socket.AF_INET, socktype=socket.SOCK_STREAM, protocol=0, addr=(ip, port)
    )


@pytest.fixture
def sockets():
    sockets = GuardedSockets(AddressGuard(), REQUEST)
    yield sockets
    sockets.close()


def test_a_socket_to_an_allowed_address_is_open_until_close(sockets):
    opened = sockets.open(0, address("93.184.216.34"))

    assert sockets.opened == [opened]
    assert (opened.fileno() >= 0, sockets.blocked_address) == (True, "")
    sockets.close()
    assert (opened.fileno(), sockets.opened) == (-1, [])


@pytest.mark.parametrize("ip", ["127.0.0.1", "10.1.2.3", "169.254.169.254"])
def test_no_socket_is_opened_to_a_private_address(sockets, ip):
    assert sockets.open(0, address(ip)) == pycurl.SOCKET_BAD

    assert sockets.opened == []
    assert ip in sockets.blocked_address


def test_a_host_that_the_request_trusts_may_have_a_private_address(sockets):
    sockets.request = Request("http://127.0.0.1/").replace(trusted={"127.0.0.1"})

    assert not sockets.is_blocked("127.0.0.1", 80)


def test_a_lack_of_descriptors_is_told_from_other_failures(sockets, monkeypatch):
    def fail(code):
        def dup(descriptor):
            raise OSError(code, os.strerror(code))

        monkeypatch.setattr(guarded_sockets.os, "dup", dup)
        return sockets.open(0, address("93.184.216.34"))

    assert fail(errno.EBADF) == pycurl.SOCKET_BAD
    assert not sockets.out_of_descriptors
    assert fail(errno.EMFILE) == pycurl.SOCKET_BAD
    assert sockets.out_of_descriptors
