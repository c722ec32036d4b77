from ipaddress import ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.data import Request
from crawler.errors import FetchError
from crawler.fetch import CurlFetch
from crawler.fetch.address_guard import AddressGuard, is_inner
from crawler.testing import LoopbackSite, Reply
from crawler.url import canonicalize, host, hosts_by_address

from .dns_server import NameServer

INNER = """
    0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.100.100.200 100.127.255.255
    127.0.0.1 127.1.2.3 127.255.255.255 168.63.129.16 169.254.0.1 169.254.169.254
    169.254.170.2 172.16.0.1 172.31.255.255 192.0.0.1 192.0.0.192 192.0.2.1 192.88.99.1
    192.168.0.1 192.168.255.255 198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.7 224.0.0.1
    239.255.255.250 240.0.0.1 255.255.255.255
    :: ::1 ::2 ::127.0.0.1 ::8.8.8.8 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254
    ::ffff:0:127.0.0.1 64:ff9b::10.0.0.1 64:ff9b::7f00:1 64:ff9b:1::808:808 100::1
    2001::1 2001:2::1 2001:db8::1 2002:7f00:1:: 2002:a9fe:a9fe::1 2002:c0a8:1::1 3fff::1
    5f00::1 fc00::1 fd00:ec2::254 fdff::1 fe80::1 fe80::1%eth0 fec0::1 ff02::1 ff0e::1
"""
PUBLIC = """
    1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 93.184.216.34 100.63.255.255 100.128.0.0
    126.255.255.255 128.0.0.0 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0
    192.0.1.0 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 223.255.255.255
    168.63.129.15
    2606:4700:4700::1111 2a00:1450:4001:81b::200e 2001:4860:4860::8888 2001:200::1
    ::ffff:8.8.8.8 64:ff9b::8.8.8.8 2002:808:808::1
"""

#: Spellings by which a page may disguise inner addresses.
SPELLINGS = {
    "2130706433": "127.0.0.1",
    "0x7f000001": "127.0.0.1",
    "0x7F.1": "127.0.0.1",
    "017700000001": "127.0.0.1",
    "0177.0.0.01": "127.0.0.1",
    "127.1": "127.0.0.1",
    "127.0.1": "127.0.0.1",
    "127.0.0.1.": "127.0.0.1",
    "%31%32%37.0.0.1": "127.0.0.1",
    "１２７.0.0.1": "127.0.0.1",
    "127。0。0。1": "127.0.0.1",
    "①②⑦.0.0.1": "127.0.0.1",
    "0": "0.0.0.0",
    "0xa9fea9fe": "169.254.169.254",
    "2852039166": "169.254.169.254",
    "0251.0376.0251.0376": "169.254.169.254",
    "169.0xfe.43518": "169.254.169.254",
    "[::ffff:7f00:1]": "::ffff:7f00:1",
    "[0:0:0:0:0:ffff:127.0.0.1]": "::ffff:7f00:1",
    "[::FFFF:169.254.169.254]": "::ffff:a9fe:a9fe",
    "[0::0:1]": "::1",
}

FIRST = Request("http://start.test/")
LINK = Request("http://linked.test/", depth=1, found_on="http://start.test/")


def hop(url):
    return Request(url, redirects=("http://start.test/",))


@pytest.mark.parametrize("ip", INNER.split())
def test_an_inner_address_is_refused(ip):
    assert is_inner(ip)
    assert not AddressGuard()(ip, 80, LINK)


@pytest.mark.parametrize("ip", PUBLIC.split())
def test_a_public_address_is_allowed(ip):
    assert not is_inner(ip)
    assert AddressGuard()(ip, 80, LINK)


@pytest.mark.parametrize(("spelling", "ip"), SPELLINGS.items())
def test_no_spelling_hides_an_address(spelling, ip):
    url = f"http://{spelling}/"

    assert host(canonicalize(url)) == host(url) == ip
    assert not AddressGuard()(ip, 80, LINK.replace(url=url))
    assert not AddressGuard(["8.8.8.8"])(ip, 80, LINK.replace(url=url))


@given(st.ip_addresses())
def test_addresses_that_python_calls_inner_are_refused(address):
    if address.is_private or address.is_multicast or address.is_reserved or address.is_link_local:
        assert is_inner(str(address)) or _leads_to_public_ipv4(address)


def _leads_to_public_ipv4(address):
    """NAT64 is a reserved prefix, but for many machines the only way to IPv4."""
    embedded = ip_address(int(address) & 0xFFFFFFFF)
    prefixes = ("64:ff9b::", "::ffff:")
    return str(address).startswith(prefixes) and not is_inner(str(embedded))


@pytest.mark.parametrize("ip", ["", "localhost", "/run/socket", "1.2.3", "1.2.3.4.5", ":::"])
def test_an_invalid_address_is_refused(ip):
    assert not AddressGuard()(ip, 80, FIRST)


def test_a_url_that_only_libcurl_understands_is_refused():
    assert not AddressGuard()("8.8.8.8", 80, Request("http://a b/"))


@pytest.mark.parametrize(
    ("url", "ip", "other"),
    [
        ("http://10.0.0.1/", "10.0.0.1", "10.0.0.2"),
        ("http://167772161/", "10.0.0.1", "127.0.0.1"),
        ("http://[::1]:8080/", "::1", "127.0.0.1"),
        ("http://[::ffff:10.0.0.1]/", "::ffff:10.0.0.1", "::1"),
        ("http://localhost/", "127.0.0.1", "10.0.0.1"),
        ("http://LOCALHOST./", "::1", "169.254.169.254"),
        ("http://a.b.localhost:81/", "127.0.0.1", "192.168.0.1"),
    ],
)
def test_a_host_that_the_user_names_by_its_address_is_trusted_for_that_address(url, ip, other):
    guard, trusted = AddressGuard(), hosts_by_address([url])

    assert guard(ip, 80, Request(url, trusted=trusted))
    assert guard(ip, 8080, LINK.replace(url=url, trusted=trusted))
    assert not guard(other, 80, Request(url, trusted=trusted))
    assert not guard(ip, 80, LINK.replace(trusted=trusted))
    assert not guard(ip, 80, Request(url))


def test_a_name_is_not_trusted_for_a_private_address():
    trusted = hosts_by_address(["http://start.test/", "http://localhost.test/", "http://intranet/"])

    assert not trusted
    assert not AddressGuard()("10.0.0.1", 80, Request("http://intranet/", trusted={"intranet"}))


@pytest.mark.parametrize(
    "request_",
    [FIRST, LINK, LINK.replace(depth=0), LINK.replace(found_on=None), hop("http://linked.test/")],
    ids=["first", "link", "link of depth 0", "found nowhere", "redirect"],
)
def test_nothing_is_trusted_for_the_way_it_was_found(request_):
    guard = AddressGuard()

    assert not guard("127.0.0.1", 80, request_)
    assert not guard("127.0.0.1", 80, request_)


def test_a_refusal_names_the_setting_and_its_value():
    guard = AddressGuard(refused_ports=[8000])

    name = guard.refusal("10.0.0.1", 80, Request("http://intranet.example/a"))
    address = guard.refusal("::1", 81, Request("http://[::1]:81/"))
    port = guard.refusal("127.0.0.1", 8000, Request("http://127.0.0.1:8000/"))

    assert name == (
        "10.0.0.1:80 is a private address: to fetch from it, "
        "add 'intranet.example' to the setting allow_addresses"
    )
    assert address.startswith("[::1]:81 is")
    assert "add '::1' to" in address
    assert port == "127.0.0.1:8000 is a service of this machine that is always refused"
    assert not guard.refusal("8.8.8.8", 80, FIRST)
    AddressGuard(["intranet.example", "::1"])  # the values are valid there


@pytest.mark.parametrize(
    ("entry", "ip", "url"),
    [
        ("intranet", "10.0.0.1", "http://INTRANET/"),
        ("Wiki.Corp.example.", "10.0.0.1", "https://wiki.corp.example/"),
        ("bücher.test", "10.0.0.1", "http://xn--bcher-kva.test/"),
        ("localhost", "::1", "http://localhost:8080/"),
        ("10.0.0.1", "10.0.0.1", "http://10.0.0.1/"),
        ("10.0.0.1", "10.0.0.1", "http://any.name/"),
        ("10.0.0.1", "::ffff:10.0.0.1", "http://any.name/"),
        ("2130706433", "127.0.0.1", "http://any.name/"),
        ("10.0.0.0/8", "10.200.3.4", "http://any.name/"),
        ("10.0.0.7/8", "10.200.3.4", "http://any.name/"),
        ("::1", "::1", "http://any.name/"),
        ("[::1]", "::1", "http://any.name/"),
        ("::ffff:10.0.0.1", "10.0.0.1", "http://any.name/"),
        ("fd00::/8", "fd00:ec2::254", "http://any.name/"),
    ],
)
def test_allowed_hosts_and_networks(entry, ip, url):
    guard = AddressGuard([entry])

    assert guard(ip, 80, LINK.replace(url=url))
    assert not guard("192.168.0.1", 80, LINK)
    assert not AddressGuard()(ip, 80, LINK.replace(url=url))


@pytest.mark.parametrize(
    "entry",
    ["", " ", "http://a.test/", "a b", "10.0.0.0/33", "a.test:80", "u@a.test", "::g", "1.2.3.256"],
)
def test_an_entry_that_means_nothing_is_refused(entry):
    with pytest.raises(ValueError, match="is not a host, an address or a network") as caught:
        AddressGuard(["a.test", entry])

    assert repr(entry) in str(caught.value)


def test_allowed_is_a_list():
    with pytest.raises(ValueError, match="must be a list, not just 'localhost'"):
        AddressGuard("localhost")


@pytest.mark.parametrize(
    "ip", ["127.0.0.1", "127.9.9.9", "::1", "0.0.0.0", "::", "::ffff:127.0.0.1"]
)
def test_own_ports_are_always_refused(ip):
    guard = AddressGuard(["0.0.0.0/0", "::/0", "start.test"], refused_ports=[8000])
    trusted = Request(f"http://{f'[{ip}]' if ':' in ip else ip}/", trusted={ip})

    assert not guard(ip, 8000, FIRST)
    assert not guard(ip, 8000, trusted)
    assert not guard(ip, 8000, FIRST.replace(proxy="http://proxy.test:8000"))
    assert guard(ip, 8001, FIRST)
    assert guard("10.0.0.1", 8000, FIRST)


def test_a_proxy_may_be_anywhere():
    guard = AddressGuard()

    assert guard("127.0.0.1", 3128, LINK.replace(proxy="http://127.0.0.1:3128"))
    assert not guard("127.0.0.1", 3128, LINK)


@pytest.fixture
def site(serve) -> LoopbackSite:
    pages = {
        "/": "start",
        "/page": "page",
        "/away": lambda request: Reply(302, {"location": request.url.replace("0.0.2", "0.0.3")}),
    }
    return serve(pages, addresses=["127.0.0.2", "127.0.0.3"])


@pytest.fixture
def guarded(stack):
    return lambda **options: stack.enter_context(CurlFetch(allow_address=AddressGuard(**options)))


def refused(fetch, request):
    with pytest.raises(FetchError) as caught:
        fetch(request)
    return caught.value.kind == "blocked_address"


def test_the_site_that_is_trusted_is_fetched_and_its_neighbour_is_not(site, guarded):
    fetch, trusted = guarded(), {"127.0.0.2"}

    assert fetch(Request(site.url(), trusted=trusted)).body == b"start"
    assert fetch(Request(site.url("/page"), depth=1, trusted=trusted)).body == b"page"
    assert refused(fetch, Request(site.url(address="127.0.0.3"), trusted=trusted))
    assert {hit.address for hit in site.requests} == {"127.0.0.2"}


def test_a_redirect_to_its_neighbour_is_refused(site, guarded):
    fetch = guarded()
    first = Request(site.url("/away"), trusted={"127.0.0.2"})
    location = fetch(first).headers["location"]

    assert location == site.url("/away", "127.0.0.3")
    assert refused(fetch, first.replace(url=location, redirects=(first.url,)))


@pytest.mark.parametrize("name", ["127.0.0.2", "localhost"])
def test_a_connection_that_is_kept_serves_only_those_who_trust_its_host(serve, guarded, name):
    site = serve({"/": "page"}, addresses=["127.0.0.1", "127.0.0.2"])
    fetch, url = guarded(), f"http://{name}:{site.port}/"

    assert fetch(Request(url, trusted={name})).body == b"page"
    assert refused(fetch, Request(url))
    assert refused(fetch, Request(url, trusted={"127.0.0.9"}))
    assert fetch(Request(url, trusted={name})).body == b"page"
    assert len(site.requests) == 2


@pytest.mark.parametrize(
    "name", ["2130706434", "0x7f000002", "0177.0.0.2", "127.2", "[::ffff:127.0.0.2]"]
)
def test_a_link_in_a_strange_spelling_is_refused(site, guarded, name):
    assert refused(guarded(), Request(f"http://{name}:{site.port}/", depth=1))
    assert site.connections == 0


def test_a_setting_allows_it(site, guarded):
    fetch = guarded(allowed=["127.0.0.0/30"])

    assert fetch(Request(site.url(address="127.0.0.3"), depth=1)).body == b"start"


def test_an_own_port_is_refused_to_a_trusted_host(site, guarded):
    fetch = guarded(refused_ports=[site.port])

    assert refused(fetch, Request(site.url(), trusted={"127.0.0.2"}))


def test_every_address_of_a_name_is_looked_at(site, stack):
    asked, guard = [], AddressGuard(["127.0.0.3"])

    def allow(ip, port, request):
        asked.append(ip)
        return guard(ip, port, request)

    fetch = stack.enter_context(CurlFetch(allow_address=allow))
    names = {"mixed.test": ["127.0.0.2", "127.0.0.3"], "inner.test": ["127.0.0.2", "127.0.0.4"]}
    fetch._name_options = stack.enter_context(NameServer(names)).options

    assert fetch(Request(f"http://mixed.test:{site.port}/", depth=1)).body == b"start"
    assert refused(fetch, Request(f"http://inner.test:{site.port}/", depth=1))
    assert asked == ["127.0.0.2", "127.0.0.3", "127.0.0.2", "127.0.0.4"]
    assert {hit.address for hit in site.requests} == {"127.0.0.3"}


def test_an_open_connection_serves_only_the_name_it_was_opened_for(serve, stack):
    site = serve({"/": "page"})
    asked = []

    def allow(ip, port, request):
        asked.append((ip, host(request.url)))
        return asked[-1] == ("127.0.0.1", "127.0.0.1")

    fetch = stack.enter_context(CurlFetch(allow_address=allow))
    for _ in range(3):
        fetch(Request(site.url()))

    assert refused(fetch, Request(f"http://localhost:{site.port}/", depth=1))
    assert (site.connections, len(site.requests)) == (1, 3)
    assert asked[:3] == [("127.0.0.1", "127.0.0.1")] * 3
    assert {name for _, name in asked[3:]} == {"localhost"}
