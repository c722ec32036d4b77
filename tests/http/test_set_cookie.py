import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.http.set_cookie import Place, read_cookie

NOW = 1_700_000_000.0


def read(url, field):
    """Read a Set-Cookie field that the server at *url* sends in UTF-8; headers are Latin-1."""
    return read_cookie(field.encode().decode("latin-1"), Place.of(url), NOW)


@pytest.mark.parametrize(
    ("origin", "field", "url", "sent"),
    [
        # host-only: no parent domain, no subdomain, no other port
        ("http://a.example.com/", "c=1", "http://a.example.com/", True),
        ("http://a.example.com/", "c=1", "http://example.com/", False),
        ("http://example.com/", "c=1", "http://a.example.com/", False),
        ("http://a.example.com/", "c=1", "http://b.example.com/", False),
        ("http://a.example.com/", "c=1", "https://a.example.com/", True),
        ("https://a.example.com/", "c=1", "http://a.example.com/", True),
        ("http://a.example.com/", "c=1", "http://a.example.com:8080/", False),
        ("http://a.example.com:8080/", "c=1", "http://a.example.com:8081/", False),
        ("http://A.example.com./", "c=1", "http://a.EXAMPLE.com/", True),
        # a domain: all its subdomains, on every port
        ("http://a.example.com/", "c=1; Domain=example.com", "http://example.com/", True),
        ("http://a.example.com/", "c=1; Domain=.Example.COM", "http://b.example.com:81/", True),
        ("http://a.example.com/", "c=1; domain=example.com", "http://notexample.com/", False),
        ("http://a.example.com/", "c=1; Domain=b.example.com", "http://b.example.com/", False),
        ("http://example.com/", "c=1; Domain=a.example.com", "http://a.example.com/", False),
        ("http://a.example.com/", "c=1; Domain=", "http://a.example.com/", True),
        ("http://a.example.com/", "c=1; Domain=", "http://b.a.example.com/", False),
        ("http://a.example.com/", "c=1; Domain=evil.test", "http://evil.test/", False),
        ("http://a.example.com/", "c=1; Domain=x@example.com", "http://example.com/", False),
        ("http://a.example.com/", "c=1; Domain=example.com:80", "http://example.com/", False),
        ("http://a.example.com/", "c=1; Domain=example.com/", "http://example.com/", False),
        ("http://a.bücher.example/", "c=1; Domain=bücher.example", "http://bücher.example/", True),
        # a public suffix may set cookies only for itself
        ("http://a.co.uk/", "c=1; Domain=co.uk", "http://b.co.uk/", False),
        ("http://a.co.uk/", "c=1; Domain=co.uk", "http://a.co.uk/", False),
        ("http://me.github.io/", "c=1; Domain=github.io", "http://you.github.io/", False),
        ("http://me.com/", "c=1; Domain=com", "http://you.com/", False),
        ("http://github.io/", "c=1; Domain=github.io", "http://github.io/", True),
        ("http://github.io/", "c=1; Domain=github.io", "http://you.github.io/", False),
        ("http://a.corp/", "c=1; Domain=corp", "http://b.corp/", False),
        ("http://a.b.corp/", "c=1; Domain=b.corp", "http://c.b.corp/", True),
        # addresses have no domain
        ("http://127.0.0.1/", "c=1", "http://127.0.0.1/", True),
        ("http://127.0.0.1/", "c=1; Domain=127.0.0.1", "http://127.0.0.1/", True),
        ("http://127.0.0.1/", "c=1; Domain=0.0.1", "http://127.0.0.1/", False),
        ("http://127.0.0.1/", "c=1", "http://127.0.0.2/", False),
        ("http://[::1]/", "c=1", "http://[::1]/", True),
        ("http://[::1]/", "c=1", "http://[::2]/", False),
        # paths
        ("http://a.test/x/y", "c=1", "http://a.test/x/z?q", True),
        ("http://a.test/x/y", "c=1", "http://a.test/x", True),
        ("http://a.test/x/y", "c=1", "http://a.test/", False),
        ("http://a.test/x", "c=1", "http://a.test/", True),
        ("http://a.test/", "c=1; Path=/x", "http://a.test/x/y", True),
        ("http://a.test/", "c=1; Path=/x", "http://a.test/xy", False),
        ("http://a.test/", "c=1; Path=/x/", "http://a.test/x", False),
        ("http://a.test/x/y", "c=1; Path=nowhere", "http://a.test/x/", True),
        ("http://a.test/x/y", "c=1; Path=/", "http://a.test/", True),
        # secure
        ("https://a.test/", "c=1; Secure", "https://a.test/", True),
        ("https://a.test/", "c=1; secure", "http://a.test/", False),
        ("http://a.test/", "c=1; Secure", "https://a.test/", False),
        # name prefixes
        ("https://a.test/", "__Secure-c=1; Secure", "https://a.test/", True),
        ("https://a.test/", "__Secure-c=1", "https://a.test/", False),
        ("http://a.test/", "__Secure-c=1; Secure", "https://a.test/", False),
        ("https://a.test/", "__Host-c=1; Secure; Path=/", "https://a.test/", True),
        ("https://a.test/", "__Host-c=1; Secure", "https://a.test/", False),
        ("https://a.test/", "__host-c=1; Path=/", "https://a.test/", False),
        ("https://a.test/", "__Host-c=1; Secure; Path=/; Domain=a.test", "https://a.test/", False),
    ],
)
def test_scope(origin, field, url, sent):
    cookie = read(origin, field)

    assert (cookie is not None and cookie.is_for(Place.of(url))) is sent


@pytest.mark.parametrize(
    ("field", "pair"),
    [
        ("a=b", "a=b"),
        (" a = b c ;x", "a=b c"),
        ('a="quoted, and; cut"', 'a="quoted, and'),
        ("a=b=c==", "a=b=c=="),
        ("a=", "a="),
        ("user[id]=7", "user[id]=7"),
        ("a=1; Path=/; Path=/elsewhere; Path=/", "a=1"),
        ("a=1; Domain=" + "x" * 1025, "a=1"),
        ("=b", ""),
        ("a", ""),
        ("", ""),
        ("; Secure", ""),
        ("a=b\x00c", ""),
        ("a=b\rc", ""),
        ("a=" + "x" * 4095, "a=" + "x" * 4095),
        ("a=" + "x" * 4096, ""),
    ],
)
def test_fields_are_read_as_browsers_read_them(field, pair):
    cookie = read("http://a.test/", field)

    assert ("" if cookie is None else f"{cookie.name}={cookie.value}") == pair


@pytest.mark.parametrize(
    ("life", "kept"),
    [
        ("", True),
        ("Max-Age=60", True),
        ("Max-Age=0", False),
        ("Max-Age=-1", False),
        ("Max-Age=" + "9" * 100, True),
        ("Max-Age=1e3", True),
        ("Expires=Tue, 14 Nov 2023 22:14:20 GMT", True),
        ("Expires=Tue, 14 Nov 2023 22:12:20 GMT", False),
        ("Expires=Tuesday, 14-Nov-23 22:14:20 GMT", True),
        ("Expires=Tue Nov 14 22:14:20 2023", True),
        ("Expires=Thu, 01 Jan 1970 00:00:00 GMT", False),
        ("Expires=Fri, 31 Dec 9999 23:59:59 GMT", True),
        ("Expires=someday", True),
        ("Expires=Wed, 31 Feb 2001 00:00:00 GMT", True),
        ("Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT", True),
        ("Expires=Fri, 31 Dec 9999 23:59:59 GMT; Max-Age=0", False),
    ],
)
def test_how_long_a_cookie_lives(life, kept):
    assert (read("http://a.test/", f"c=1; {life}").expires > NOW) is kept


def test_the_lifetime_of_a_cookie_is_limited():
    assert read("http://a.test/", "c=1; Max-Age=999999999").expires == NOW + 400 * 86400


@given(st.text("0123456789:-, JanFebMGT+"))
def test_no_date_of_a_server_raises(date):
    read("http://a.test/", f"c=1; Expires={date}")
