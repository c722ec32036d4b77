"""What a SessionFetch may connect to, with the adapters that people mount."""

import socket

import pytest
from gevent import monkey

from crawler import FetchError, Request, SessionFetch
from crawler.fetch import AddressGuard, any_address

requests = pytest.importorskip("requests")
urllib3 = pytest.importorskip("urllib3")
pytestmark = pytest.mark.skipif(
    not monkey.is_module_patched("socket"), reason="requests blocks the hub unless patched"
)

OWN, INNER = "127.0.0.2", "127.0.0.3"


@pytest.fixture
def site(serve):
    return serve({"/": "page"}, addresses=[OWN, INNER])


@pytest.fixture
def session():
    with requests.Session() as session:
        session.trust_env = False
        yield session


@pytest.fixture
def names(monkeypatch):
    """Let names have the addresses that are given here."""
    names, ask = {}, socket.getaddrinfo

    def getaddrinfo(host, port, *args, **options):
        ips = names.get(host, [host])
        return [entry for ip in ips for entry in ask(ip, port, *args, **options)]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    return names


def refusal(fetch, request):
    with pytest.raises(FetchError) as caught:
        fetch(request)
    assert caught.value.kind == "blocked_address"
    return caught.value.detail


def test_a_private_address_is_refused_before_a_connection_is_made(site, session, names):
    names["inner.test"] = [INNER, OWN]
    fetch = SessionFetch(session)

    assert "add '127.0.0.3' to the setting allow_addresses" in refusal(
        fetch, Request(site.url(address=INNER))
    )
    assert refusal(fetch, Request(f"http://inner.test:{site.port}/")).startswith(INNER)
    assert site.connections == 0


def test_what_the_request_trusts_is_fetched(site, session):
    fetch = SessionFetch(session)

    assert fetch(Request(site.url(), trusted={OWN})).body == b"page"
    assert refusal(fetch, Request(site.url(address=INNER), trusted={OWN}))
    assert [hit.address for hit in site.requests] == [OWN]


def test_of_several_addresses_those_that_are_allowed_are_tried_in_turn(site, session, names):
    names["mixed.test"] = [INNER, "127.0.0.9", OWN]
    allow = AddressGuard(["127.0.0.9", OWN])

    response = SessionFetch(session, allow_address=allow)(
        Request(f"http://mixed.test:{site.port}/")
    )

    assert response.body == b"page"
    [hit] = site.requests
    assert (hit.address, hit.headers["host"]) == (OWN, f"mixed.test:{site.port}")


def test_if_no_allowed_address_answers_that_is_the_failure(site, session, names):
    names["dead.test"] = [INNER, "127.0.0.9"]
    fetch = SessionFetch(session, allow_address=AddressGuard(["127.0.0.9"]))

    with pytest.raises(FetchError) as caught:
        fetch(Request(f"http://dead.test:{site.port}/"))

    assert caught.value.kind == "connect"
    assert site.connections == 0


def test_other_uses_of_the_session_are_not_guarded_and_lend_it_no_connection(site, session):
    url, fetch = site.url(), SessionFetch(session)

    assert session.get(url).text == "page"
    assert refusal(fetch, Request(url))
    assert session.get(url).text == "page"
    assert refusal(fetch, Request(url))
    assert session.get(url).text == "page"
    assert len(site.requests) == 3


def test_two_fetchers_of_one_session_keep_their_own_guards(site, session):
    free = SessionFetch(session, allow_address=AddressGuard([OWN]))
    guarded = SessionFetch(session)

    for _ in range(2):
        assert free(Request(site.url())).body == b"page"
        assert refusal(guarded, Request(site.url()))
    assert len(site.requests) == 2


def test_connections_are_kept(site, session):
    fetch = SessionFetch(session)

    for _ in range(3):
        assert fetch(Request(site.url(), trusted={OWN})).body == b"page"

    assert (site.connections, len(site.requests)) == (1, 3)


class Custom(requests.adapters.HTTPAdapter):
    """An adapter as people write them: a pool manager with options, and a header."""

    def init_poolmanager(self, *args, **options):
        options["socket_options"] = [(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)]
        super().init_poolmanager(*args, **options)

    def add_headers(self, request, **_):
        request.headers["X-Custom"] = "1"


def test_an_adapter_that_extends_an_http_adapter_keeps_its_behaviour(site, session):
    session.mount("http://", Custom(pool_maxsize=3))
    fetch = SessionFetch(session)

    fetch(Request(site.url(), trusted={OWN}))

    assert site.requests[0].headers["x-custom"] == "1"
    assert refusal(fetch, Request(site.url(address=INNER)))


class Elsewhere(urllib3.connection.HTTPConnection):
    """Connects to an address of its own, whatever its host is."""

    def _new_conn(self):
        return socket.create_connection((INNER, self.port))


def test_a_connection_that_leads_elsewhere_is_closed_before_anything_is_sent(site, session):
    pool = type("Pool", (urllib3.HTTPConnectionPool,), {"ConnectionCls": Elsewhere})
    session.get_adapter("http://").poolmanager.pool_classes_by_scheme = {"http": pool}

    assert INNER in refusal(SessionFetch(session), Request(site.url(), trusted={OWN}))
    assert not site.requests


class Own(requests.adapters.BaseAdapter):
    """An adapter that answers by itself."""

    def send(self, request, **_):
        response = requests.Response()
        response.status_code, response.request, response.url = 200, request, request.url
        response.raw = urllib3.HTTPResponse(b"own", preload_content=False)
        return response

    def close(self):
        pass


def test_an_adapter_that_cannot_be_checked_is_refused_unless_all_is_allowed(session):
    session.mount("http://", Own())
    request = Request("http://site.test/")

    reason = refusal(SessionFetch(session), request)

    assert "Own connects to cannot be checked" in reason
    assert "any_address" in reason
    assert SessionFetch(session, allow_address=any_address)(request).status == 200


def test_any_address_leaves_the_adapter_as_it_is(site, session):
    manager = session.get_adapter(site.url()).poolmanager
    before = manager.pool_classes_by_scheme

    assert SessionFetch(session, allow_address=any_address)(Request(site.url())).body == b"page"
    assert manager.pool_classes_by_scheme is before


@pytest.mark.parametrize("chosen_by", ["request", "session"])
def test_a_proxy_decides_itself_where_it_connects_to(serve, session, chosen_by):
    proxy = serve({"http://inner.test/": "by proxy"}, addresses=[OWN])
    url = proxy.url("")
    if chosen_by == "session":
        session.proxies = {"http": url}

    request = Request("http://inner.test/", proxy=url if chosen_by == "request" else None)

    SessionFetch(session)(request)

    assert proxy.requests[0].path == "http://inner.test/"


def test_a_name_without_an_address_is_a_dns_failure(session):
    with pytest.raises(FetchError) as caught:
        SessionFetch(session)(Request("http://no-such.invalid/"))

    assert caught.value.kind == "dns"
