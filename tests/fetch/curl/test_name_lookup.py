"""Names are looked up on the hub: no name waits for another one."""

import os
from pathlib import Path

import gevent
import pytest
from gevent import get_hub

from crawler import CurlFetch, FetchError, Request
from crawler.fetch import Limits
from crawler.fetch.curl.name_lookup import NameLookup
from crawler.testing import LoopbackSite

from ..dns_server import BROKEN, SILENCE, NameServer

HERE = ["127.0.0.1"]


@pytest.fixture(scope="module")
def site():
    with LoopbackSite({"/": "page"}, addresses=["127.0.0.1", "127.0.0.2"]) as site:
        yield site


@pytest.fixture
def name_server(stack):
    """Start a name server for a client that connects to any address; return both."""

    def name_server(names, by_tcp=False, **limits):
        server = stack.enter_context(NameServer(names, by_tcp))
        client = CurlFetch(allow_address=lambda *_: True, limits=Limits(**limits))
        client._name_options = server.options
        return server, stack.enter_context(client)

    return name_server


def request(site, name, **options):
    return Request(f"http://{name}:{site.port}/", **options)


def failure(fetch, request):
    with pytest.raises(FetchError) as caught:
        fetch(request)
    return str(caught.value)


def test_a_name_leads_to_its_addresses(site, name_server):
    _, fetch = name_server({"live.test": HERE, "both.test": ["::1", "127.0.0.2"]})

    assert fetch(request(site, "live.test")).body == b"page"
    assert fetch(request(site, "both.test")).body == b"page"
    assert [hit.address for hit in site.requests[-2:]] == ["127.0.0.1", "127.0.0.2"]
    assert site.requests[-2].headers["host"] == f"live.test:{site.port}"


@pytest.mark.parametrize(
    "name", ["LIVE.test", "live.test.", "user:secret@live.test", "liv%65.test", "_a.b-c.live.test"]
)
def test_a_name_may_be_written_in_many_ways(site, name_server, name):
    server, fetch = name_server({"live.test": HERE, "_a.b-c.live.test": HERE})

    assert fetch(request(site, name)).body == b"page"
    assert server.asked


def test_many_requests_for_one_name_ask_once(site, name_server):
    server, fetch = name_server({"live.test": HERE})

    jobs = [gevent.spawn(fetch, request(site, "live.test")) for _ in range(20)]
    gevent.joinall(jobs, raise_error=True)
    fetch(request(site, "live.test"))

    assert len(server.asked) == 2  # IPv4 and IPv6


def test_addresses_are_looked_up_again_after_a_minute(site, name_server, monkeypatch):
    now = [0.0]
    monkeypatch.setattr("crawler.fetch.curl.client.monotonic", lambda: now[0])
    server, fetch = name_server({"live.test": HERE})
    fetch._tidied_at = 0.0
    fetch(request(site, "live.test"))

    server.names["live.test"] = ["127.0.0.2"]
    now[0] = 59.0
    fetch(request(site, "live.test", attempts=("on a new connection",)))
    now[0] = 61.0
    fetch(request(site, "live.test", attempts=("on a new connection",)))

    assert [hit.address for hit in site.requests[-3:]] == ["127.0.0.1", "127.0.0.1", "127.0.0.2"]
    assert len(server.asked) == 4


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "a.localhost", "0x7f.1"])
def test_what_needs_no_name_server_asks_none(site, name_server, name):
    server, fetch = name_server({})

    assert fetch(request(site, name)).body == b"page"
    assert not server.asked


@pytest.mark.parametrize("name", ["printer.local", "no-such-single-label"])
def test_a_name_that_only_the_system_may_know_is_left_to_it(name_server, name):
    server, _ = name_server({})
    names = NameLookup(get_hub(), **server.options)

    assert names.entries(f"http://{name}/", 1) == []
    assert not server.asked


def listed_names():
    """Yield the names in the hosts file of this machine, with their addresses."""
    for line in Path("/etc/hosts").read_text().splitlines():
        address, *names = line.partition("#")[0].split() or [""]
        yield from ((name, address) for name in names if "localhost" not in name)


@pytest.mark.skipif(not Path("/etc/hosts").exists(), reason="no /etc/hosts")
def test_names_in_the_hosts_file_are_known(name_server):
    name, address = next(listed_names(), ("", ""))
    if not name:
        pytest.skip("/etc/hosts has only localhost")
    server, _ = name_server({name: ["192.0.2.1"]})
    names = NameLookup(get_hub(), **server.options)

    assert address in [found.strip("[]") for found in names._addresses(name, 5)]
    assert not server.asked
    names.close()


def test_no_name_is_looked_up_for_a_request_with_a_proxy(site, name_server):
    server, fetch = name_server({"live.test": HERE})

    fetch(request(site, "live.test", proxy=site.url("")))

    assert site.requests[-1].path == f"http://live.test:{site.port}/"
    assert not server.asked


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("none.test", "Name or service not known"),
        ("broken.test", "general failure"),
        ("empty.test", "dns: empty.test"),
        (f"{'a' * 64}.test", "Misformatted domain name"),
        ("silent.test", "no answer for silent.test within 0.3 s"),
    ],
)
def test_a_name_without_an_address_is_a_dns_failure_with_a_reason(site, name_server, name, reason):
    names = {"broken.test": BROKEN, "empty.test": [], "silent.test": SILENCE}
    _, fetch = name_server(names, connect=0.3 if name == "silent.test" else 100)

    text = failure(fetch, request(site, name))

    assert text.startswith("dns: ")
    assert name in text
    assert reason in text


def test_an_answer_that_is_too_long_for_a_datagram_comes_by_tcp(site, name_server):
    server, fetch = name_server({"live.test": HERE}, by_tcp=True)

    assert fetch(request(site, "live.test")).body == b"page"
    assert "live.test" in server.asked_by_tcp


def test_only_some_of_many_addresses_are_tried(name_server):
    many = [f"127.1.{n // 250}.{n % 250}" for n in range(900)]
    server, _ = name_server({"many.test": many}, by_tcp=True)
    names = NameLookup(get_hub(), **server.options)

    [entry, _] = names.entries("http://many.test/", 5)
    names.close()

    assert entry.startswith("+many.test:80:127.1.")
    assert entry.count(",") == 15


@pytest.mark.parametrize(
    ("has_ipv6", "addresses"),
    [(True, "[2001:db8::1],[2001:db8::2],192.0.2.1"), (False, "192.0.2.1")],
)
def test_ipv6_comes_first_where_there_is_a_route_to_it(
    name_server, monkeypatch, has_ipv6, addresses
):
    monkeypatch.setattr("crawler.fetch.curl.name_lookup._has_ipv6", lambda: has_ipv6)
    server, _ = name_server({"both.test": ["192.0.2.1", "2001:db8::1", "2001:db8::2"]})
    names = NameLookup(get_hub(), **server.options)

    entries = names.entries("https://both.test/", 5)
    names.close()

    assert entries == [f"+both.test:443:{addresses}", f"+both.test.:443:{addresses}"]


def test_a_name_that_leads_to_a_refused_address_is_not_connected_to(site, stack):
    server = stack.enter_context(NameServer({"inner.test": HERE}))
    fetch = stack.enter_context(CurlFetch(allow_address=lambda ip, *_: ip != "127.0.0.1"))
    fetch._name_options = server.options

    assert failure(fetch, request(site, "inner.test")).startswith("blocked_address: 127.0.0.1")


def test_closing_fails_what_waits_for_an_answer(site, name_server):
    server, fetch = name_server({"silent.test": SILENCE, "live.test": HERE})
    job = gevent.spawn(fetch, request(site, "silent.test"))
    while not server.asked:
        gevent.sleep(0.001)

    fetch.close()

    job.join(120)
    assert str(job.exception) == "network: the fetcher was closed"
    assert fetch(request(site, "live.test")).body == b"page"


def test_a_killed_greenlet_does_not_take_the_answer_with_it(site, name_server):
    server, fetch = name_server({"slow.test": SILENCE})
    jobs = [gevent.spawn(fetch, request(site, "slow.test")) for _ in range(2)]
    while not server.asked:
        gevent.sleep(0.001)

    jobs[0].kill()
    server.names["slow.test"] = HERE

    assert jobs[1].get(timeout=120).body == b"page"


def test_lookups_leave_no_file_open(site, name_server):
    server, fetch = name_server({f"live-{n}.test": HERE for n in range(20)})
    fetch(request(site, "live-0.test"))
    fetch.close()
    before = len(list(Path("/proc/self/fd").iterdir()))

    for name in server.names:
        fetch(request(site, name))
    fetch.close()
    site.requests.clear()
    gevent.sleep(0.05)

    assert len(list(Path("/proc/self/fd").iterdir())) <= before + 2


def test_a_forked_child_asks_for_itself(site, name_server):
    _, fetch = name_server({"live.test": HERE, "other.test": HERE})
    fetch(request(site, "live.test"))
    child = gevent.os.fork()
    if not child:
        fetched = False
        try:
            with gevent.Timeout(120):
                fetched = fetch(request(site, "localhost")).body == b"page"
        finally:
            os._exit(0 if fetched else 1)
    _, status = gevent.os.waitpid(child, 0)

    assert os.waitstatus_to_exitcode(status) == 0
    assert fetch(request(site, "other.test")).body == b"page"
