import gc

import gevent
import pytest

from crawler.frontier.hosts import addresses as addresses_module
from crawler.frontier.hosts.addresses import Addresses
from crawler.frontier.hosts.host import Host

IPS = {"a.test": "192.0.2.1", "b.test": "192.0.2.1", "c.test": "192.0.2.2"}


@pytest.fixture
def found():
    return []


@pytest.fixture
def addresses(monkeypatch, found):
    def look_up(name, _port):
        gevent.sleep(0)
        if name not in IPS:
            raise OSError("no such name")
        return [(None, None, None, "", (IPS[name], 0))]

    monkeypatch.setattr(addresses_module, "getaddrinfo", look_up)
    return Addresses(found.append)


def looked_up(addresses, *names):
    hosts = [Host(name) for name in names]
    for host in hosts:
        addresses.look_up(host)
    addresses._lookups.join(timeout=120)
    return hosts


def test_hosts_of_one_ip_address_share_an_address(addresses, found):
    one, same, other = looked_up(addresses, "a.test", "b.test", "c.test")

    assert one.address is same.address is not None
    assert other.address not in (None, one.address)
    assert found == [one, same, other]


def test_the_address_of_hosts_that_are_forgotten_is_forgotten(addresses, found):
    hosts = looked_up(addresses, "a.test", "b.test", "c.test")
    assert len(addresses._known) == 2

    found.clear()
    del hosts[:2]
    gc.collect()

    assert [*addresses._known] == [IPS["c.test"]]


def test_a_host_without_an_address_is_reported_too(addresses, found):
    [host] = looked_up(addresses, "nowhere.test")

    assert host.address is None
    assert found == [host]


def test_after_close_no_host_is_reported(addresses, found):
    addresses.look_up(Host("a.test"))

    addresses.close()
    addresses._lookups.join(timeout=120)

    assert not found
