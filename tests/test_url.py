import subprocess
import sys
from contextlib import suppress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crawler import url
from crawler.errors import InvalidURL
from crawler.url import (
    DEFAULT,
    Rules,
    canonicalize,
    host,
    hosts_by_address,
    is_local_name,
    origin,
    port,
    resolve,
    scheme,
    target,
)

from .cpu_time import takes_at_most

BASE = "http://example.org/dir/sub/page?q#f"


@pytest.mark.parametrize(
    ("href", "expected"),
    [
        # relative references
        ("", "http://example.org/dir/sub/page?q"),
        ("other", "http://example.org/dir/sub/other"),
        ("./other", "http://example.org/dir/sub/other"),
        ("..", "http://example.org/dir/"),
        ("../", "http://example.org/dir/"),
        ("../../../../up", "http://example.org/up"),
        ("/root", "http://example.org/root"),
        ("//other.org/x", "http://other.org/x"),
        ("///other.org/x", "http://other.org/x"),
        ("?a=1", "http://example.org/dir/sub/page?a=1"),
        ("?", "http://example.org/dir/sub/page?"),
        ("#top", "http://example.org/dir/sub/page?q#top"),
        ("a;b=1", "http://example.org/dir/sub/a;b=1"),
        ("a:b", "a:b"),
        ("./a:b", "http://example.org/dir/sub/a:b"),
        ("a//b", "http://example.org/dir/sub/a//b"),
        # the scheme of the base, left out or repeated
        ("http:other", "http://example.org/dir/sub/other"),
        ("http:/root", "http://example.org/root"),
        ("https:other", "https://other/"),
        ("HTTP://EXAMPLE.org", "http://example.org/"),
        # white space and control characters
        ("  other \n", "http://example.org/dir/sub/other"),
        ("\x00\x1f other\x0b", "http://example.org/dir/sub/other"),
        ("o\tth\r\ner", "http://example.org/dir/sub/other"),
        ("ht\ntp://other.org/", "http://other.org/"),
        ("a b", "http://example.org/dir/sub/a%20b"),
        ("a\x00b", "http://example.org/dir/sub/a%00b"),
        ("\xa0x", "http://example.org/dir/sub/%C2%A0x"),
        # backslashes are slashes, but not in a query or fragment
        ("\\root", "http://example.org/root"),
        ("\\\\other.org\\x", "http://other.org/x"),
        ("a\\..\\b", "http://example.org/dir/sub/b"),
        ("?a\\b#c\\d", "http://example.org/dir/sub/page?a\\b#c\\d"),
        # escapes
        ("%2e%2E/x", "http://example.org/dir/x"),
        (".%2e/x", "http://example.org/dir/x"),
        ("a%2fb", "http://example.org/dir/sub/a%2fb"),
        ("é?é#é", "http://example.org/dir/sub/%C3%A9?%C3%A9#%C3%A9"),
        ('<>"`{}^|', "http://example.org/dir/sub/%3C%3E%22%60%7B%7D%5E|"),
        ("?<>\"'`{}^|", "http://example.org/dir/sub/page?%3C%3E%22%27`{}^|"),
        ("100%", "http://example.org/dir/sub/100%"),
        ("%zz", "http://example.org/dir/sub/%zz"),
        # credentials
        ("//user:pass@other.org/", "http://user:pass@other.org/"),
        ("//a@b@other.org/", "http://a%40b@other.org/"),
        ("//user:@other.org/", "http://user@other.org/"),
        ("//:@other.org/", "http://other.org/"),
        # other schemes
        ("mailto:someone@example.org", "mailto:someone@example.org"),
        ("javascript:void(0)", "javascript:void(0)"),
        ("JavaScript:alert('x')", "javascript:alert('x')"),
        ("data:text/plain,a b", "data:text/plain,a b"),
        ("tel:+1-23", "tel:+1-23"),
        ("ftp://ftp.example.org:21/x", "ftp://ftp.example.org/x"),
        ("file:///C|/x/..", "file:///C:/"),
        ("about:blank#x", "about:blank#x"),
        ("git+ssh://Host/../x", "git+ssh://Host/x"),
    ],
)
def test_resolve_reads_a_reference_as_a_browser_does(href, expected):
    assert expected == resolve(BASE, href)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # hosts
        ("HTTP://WWW.Example.ORG", "http://www.example.org/"),
        ("http://example.org.", "http://example.org/"),
        ("http://example.org.:8080/x", "http://example.org:8080/x"),
        ("http://u.:1@example.org./", "http://u.:1@example.org/"),
        ("http://example.org../", "http://example.org../"),
        ("http://./", "http://./"),
        ("http://bücher.example/", "http://xn--bcher-kva.example/"),
        ("http://BÜCHER.example/", "http://xn--bcher-kva.example/"),
        ("http://XN--BCHER-KVA.example/", "http://xn--bcher-kva.example/"),
        ("http://xn--a/", "http://xn--a/"),
        ("http://faß.de/", "http://xn--fa-hia.de/"),
        ("http://☃.net/", "http://xn--n3h.net/"),
        ("http://中国。中国/", "http://xn--fiqs8s.xn--fiqs8s/"),
        ("http://ｅｘａｍｐｌｅ.org/", "http://example.org/"),
        ("http://ex\u00adample.org/", "http://example.org/"),
        ("http://ex%61mple.org/", "http://example.org/"),
        ("http://under_score.example.org/", "http://under_score.example.org/"),
        ("http://-dash-.example.org/", "http://-dash-.example.org/"),
        ("http://a*b.example.org/", "http://a*b.example.org/"),
        ("http:example.org", "http://example.org/"),
        ("http:\\\\example.org\\a\\b", "http://example.org/a/b"),
        ("http:////example.org/", "http://example.org/"),
        # addresses
        ("http://127.0.0.1/", "http://127.0.0.1/"),
        ("http://127.1/", "http://127.0.0.1/"),
        ("http://0x7f000001/", "http://127.0.0.1/"),
        ("http://2130706433/", "http://127.0.0.1/"),
        ("http://0177.0.0.1/", "http://127.0.0.1/"),
        ("http://127.0.0.1./", "http://127.0.0.1/"),
        ("http://１２７.0.0.1/", "http://127.0.0.1/"),
        ("http://192.168.257/", "http://192.168.1.1/"),
        ("http://0x/", "http://0.0.0.0/"),
        ("http://1.2.3.4.example.com/", "http://1.2.3.4.example.com/"),
        ("http://[::1]/", "http://[::1]/"),
        ("http://[0:0:0:0:0:0:0:1]:80/", "http://[::1]/"),
        ("http://[2001:DB8::0:1]/", "http://[2001:db8::1]/"),
        ("http://[::1.2.3.4]/", "http://[::102:304]/"),
        ("http://[1:0:0:2:0:0:0:3]/", "http://[1:0:0:2::3]/"),
        # ports
        ("http://example.org:80/", "http://example.org/"),
        ("https://example.org:443/", "https://example.org/"),
        ("http://example.org:443/", "http://example.org:443/"),
        ("http://example.org:0080/", "http://example.org/"),
        ("http://example.org:/", "http://example.org/"),
        ("http://example.org:0/", "http://example.org:0/"),
        ("http://example.org:65535/", "http://example.org:65535/"),
        # paths
        ("http://example.org/a/./b/../c", "http://example.org/a/c"),
        ("http://example.org/a/b/..", "http://example.org/a/"),
        ("http://example.org/a/.", "http://example.org/a/"),
        ("http://example.org/../../a", "http://example.org/a"),
        ("http://example.org/a/%2e%2e/b", "http://example.org/b"),
        ("http://example.org/...", "http://example.org/..."),
        ("http://example.org/.well-known", "http://example.org/.well-known"),
        ("http://example.org/a//b/", "http://example.org/a//b/"),
        ("http://example.org//", "http://example.org//"),
        ("http://example.org/A", "http://example.org/A"),
        # escapes
        ("http://example.org/%7euser/%41", "http://example.org/~user/A"),
        ("http://example.org/%2d%2E%5f%30", "http://example.org/-._0"),
        ("http://example.org/a%2fb%3f", "http://example.org/a%2Fb%3F"),
        ("http://example.org/é", "http://example.org/%C3%A9"),
        ("http://example.org/%c3%a9", "http://example.org/%C3%A9"),
        ("http://example.org/%2541", "http://example.org/%2541"),
        ("http://example.org/100%", "http://example.org/100%25"),
        ("http://example.org/%%341", "http://example.org/%2541"),
        ("http://example.org/%4%31", "http://example.org/%2541"),
        ("http://example.org/?q=%7e%zz", "http://example.org/?q=~%25zz"),
        ("http://example.org/?a=b+c%20d", "http://example.org/?a=b+c%20d"),
        ("http://example.org/a|b?a|b", "http://example.org/a|b?a|b"),
        ("http://example.org/it's?it's", "http://example.org/it's?it%27s"),
        # query and fragment
        ("http://example.org?", "http://example.org/"),
        ("http://example.org/?#", "http://example.org/"),
        ("http://example.org/??", "http://example.org/??"),
        ("http://example.org/#?a", "http://example.org/"),
        ("http://example.org/a#b#c", "http://example.org/a"),
        ("http://example.org/a#é", "http://example.org/a"),
        ("http://example.org/a #b", "http://example.org/a%20"),
        ("http://example.org/?b=2&a=1&", "http://example.org/?b=2&a=1&"),
        ("http://example.org/?utm_source=x", "http://example.org/?utm_source=x"),
        # credentials stay
        ("http://u:p%41@example.org/", "http://u:pA@example.org/"),
        ("http://u@example.org:80/", "http://u@example.org/"),
        # white space and control characters
        (" \nhttp://example.org/\t ", "http://example.org/"),
        ("http://exa\nmple.org/a\tb", "http://example.org/ab"),
        # other schemes lose their fragment and keep the rest
        ("mailto:a%41?#x", "mailto:a%41?"),
        ("JAVASCRIPT:x", "javascript:x"),
        ("data:x   #y", "data:x  %20"),
    ],
)
def test_canonicalize_gives_one_form(text, expected):
    assert expected == canonicalize(text)
    assert expected == canonicalize(expected)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "example.org",
        "/path",
        "//example.org",
        "http",
        "http:",
        "http://",
        "http:///",
        "http://?",
        "http://#",
        "http://@/",
        "http://user@/",
        "http://:80/",
        "://example.org",
        "1http://example.org",
        "ht tp://example.org",
        # ports
        "http://example.org:65536/",
        "http://example.org:-1/",
        "http://example.org:80a/",
        "http://example.org:8 0/",
        "http://example.org:999999999999999999999/",
        # code points that are not allowed in a host
        "http://exa mple.org/",
        "http://exa<mple.org/",
        "http://exa>mple.org/",
        "http://exa^mple.org/",
        "http://exa|mple.org/",
        "http://exa[mple.org/",
        "http://exa]mple.org/",
        "http://exa%mple.org/",
        "http://exa%25mple.org/",
        "http://exa%2fmple.org/",
        "http://exa%00mple.org/",
        "http://exa\x00mple.org/",
        "http://exa\x7fmple.org/",
        "http://exa%zzmple.org/",
        "http://\u00ad/",
        "http://exa\ufffdmple.org/",
        "http://ü.xn--a/",
        # addresses
        "http://256.0.0.1/",
        "http://1.2.3.4.5/",
        "http://4294967296/",
        "http://1..2/",
        "http://example.1/",
        "http://example.0x1/",
        "http://09.1.1.1/",
        "http://[::1/",
        "http://::1/",
        "http://[]/",
        "http://[:1]/",
        "http://[1:2:3]/",
        "http://[::1::2]/",
        "http://[1:2:3:4:5:6:7:8:9]/",
        "http://[::12345]/",
        "http://[::g]/",
        "http://[::1.2.3]/",
        "http://[fe80::1%25eth0]/",
        "http://[v1.x]/",
        "http://[::1]x/",
        # code points that are not scalar values
        "http://example.org/\ud800",
        "http://example.org/#\udfff",
    ],
)
def test_a_url_that_a_browser_refuses_is_invalid(text):
    for function in (canonicalize, host, origin, scheme, port, target):
        with pytest.raises(InvalidURL) as caught:
            function(text)
        assert text == caught.value.url


def test_the_error_of_resolve_names_the_base_or_the_reference():
    with pytest.raises(InvalidURL, match=r"the base is not a URL: 'example\.org'"):
        resolve("example.org", "x")
    with pytest.raises(InvalidURL, match="not a URL: 'http://a b/'"):
        resolve(BASE, "http://a b/")
    with pytest.raises(InvalidURL, match="not a URL: 'x'"):
        resolve("mailto:someone", "x")


@pytest.mark.parametrize(
    ("text", "expected_host", "expected_origin", "expected_port"),
    [
        ("https://Example.ORG/a", "example.org", "https://example.org", 443),
        ("https://example.org./", "example.org", "https://example.org", 443),
        ("https://example.org.:8443/", "example.org", "https://example.org:8443", 8443),
        ("http://example.org../", "example.org..", "http://example.org..", 80),
        ("http://u:p@example.org:80/", "example.org", "http://example.org", 80),
        ("http://example.org:443/", "example.org", "http://example.org:443", 443),
        ("http://example.org:0/", "example.org", "http://example.org:0", 0),
        ("http://BÜCHER.de/", "xn--bcher-kva.de", "http://xn--bcher-kva.de", 80),
        ("http://[::1]:8080/", "::1", "http://[::1]:8080", 8080),
        ("http://0x7f.1:9/", "127.0.0.1", "http://127.0.0.1:9", 9),
        ("http://localhost/", "localhost", "http://localhost", 80),
        ("ftp://example.org/", "example.org", "ftp://example.org", 21),
        ("mailto:a@example.org", "", "null", None),
        ("javascript:void(0)", "", "null", None),
        ("file:///etc/hosts", "", "null", None),
    ],
)
def test_parts(text, expected_host, expected_origin, expected_port):
    assert expected_host == host(text)
    assert expected_origin == origin(text)
    assert expected_port == port(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("HTTPS://a/", "https"), ("mailto:x", "mailto"), ("Git+SSH:x", "git+ssh"), ("x:", "x")],
)
def test_scheme(text, expected):
    assert expected == scheme(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("http://example.org", "/"),
        ("http://example.org?", "/?"),
        ("http://u:p@example.org:81/a/../b?c=d/e#f", "/b?c=d/e"),
        ("http://example.org/a%7e?b%7e", "/a%7e?b%7e"),
        ("http://example.org//a", "//a"),
        ("http://example.org/?http://other.org/", "/?http://other.org/"),
        ("http://[::1]/é", "/%C3%A9"),
    ],
)
def test_target(text, expected):
    assert expected == target(text)


def test_hosts_by_address():
    urls = [
        "http://10.0.0.1/",
        "http://[::1]:80/",
        "http://0x7f.1/",
        "http://LocalHost./",
        "https://a.b.localhost",
        "http://localhost.test/",
        "http://mylocalhost/",
        "http://intranet/",
        "http://site.test/10.0.0.9",
        "http://8.8.8.8/",
        "mailto:a@localhost",
        "http://a:b@[/",
        "http://10.0.0.1:81/again",
    ]
    expected = {"10.0.0.1", "::1", "127.0.0.1", "localhost", "a.b.localhost", "8.8.8.8"}

    assert hosts_by_address(urls) == expected
    assert [is_local_name(name) for name in ("localhost", "a.localhost", "alocalhost", "")] == [
        True,
        True,
        False,
        False,
    ]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("www.bbc.co.uk", "bbc.co.uk"),
        ("bbc.co.uk", "bbc.co.uk"),
        ("a.b.c.example.org", "example.org"),
        ("www.tsinghua.edu.cn", "tsinghua.edu.cn"),
        ("user.github.io", "user.github.io"),
        ("a.user.github.io", "user.github.io"),
        ("site.pages.dev", "site.pages.dev"),
        ("www.ck", "www.ck"),
        ("a.b.c.ck", "b.c.ck"),
        ("city.kawasaki.jp", "city.kawasaki.jp"),
        ("a.xn--bcher-kva.example", "xn--bcher-kva.example"),
        ("www.xn--85x722f.xn--55qx5d.cn", "xn--85x722f.xn--55qx5d.cn"),
        ("printer.local", "printer.local"),
        ("co.uk", "co.uk"),
        ("com", "com"),
        ("github.io", "github.io"),
        ("localhost", "localhost"),
        ("127.0.0.1", "127.0.0.1"),
        ("::1", "::1"),
        ("2001:db8::1", "2001:db8::1"),
        ("a..b.com", "a..b.com"),
        ("", ""),
        (".", "."),
        ("a." * 200 + "example.org", "a." * 200 + "example.org"),
    ],
)
def test_registered_domain(name, expected):
    assert expected == url.registered_domain(name)


@pytest.mark.parametrize(
    ("rules", "query", "expected"),
    [
        (Rules(sort_query=True), "?b=2&a=1&b=1", "?a=1&b=2&b=1"),
        (Rules(sort_query=True), "?b&a&", "?&a&b"),
        (Rules(sort_query=True), "?%62=1&a", "?a&b=1"),
        (Rules(sort_query=True), "", ""),
        (Rules(drop_tracking=True), "?utm_source=x&id=1&utm_medium=y", "?id=1"),
        (Rules(drop_tracking=True), "?fbclid=x", ""),
        (Rules(drop_tracking=True), "?gclid", ""),
        (Rules(drop_tracking=True), "?gclids=1&my_utm_source=1", "?gclids=1&my_utm_source=1"),
        (Rules(drop_tracking=True), "?%75tm_source=x&b&a", "?b&a"),
        (Rules(sort_query=True, drop_tracking=True), "?z&utm_id=1&y", "?y&z"),
        (Rules(), "?b&utm_source=1&a", "?b&utm_source=1&a"),
    ],
)
def test_rules_about_the_query(rules, query, expected):
    assert f"http://example.org/{expected}" == canonicalize(f"http://example.org/{query}", rules)


def urlish():
    """Texts similar enough to URLs to reach every part of a parser."""
    schemes = ["http://", "https://", "HTTP:\\\\", "http:", "//", "mailto:", "data:", "x:/", ""]
    credentials = ["", "", "", "u@", "u:p@", "u.:1@", "%41:%@", "@@", "u:@:@"]
    hosts = ["example.org", "a.b.c", "EX.org.", "a..", "xn--a", "é.org", "1.2.3", "0x7f.1", "[::1]"]
    hosts += ["127.0.0.1", "256.1.1.1", "a.1.", "a.0x", "co_1.uk", ".", "xn--n3h.net", "a1.b2"]
    ports = ["", "", "", ":80", ":443", ":8080", ":65535", ":65536", ":0", ":08", ":", ":x"]
    tails = [
        "/",
        ".",
        "..",
        "%2e",
        "%2E",
        "%",
        "%4",
        "%41",
        "%c3%a9",
        "%2F",
        "a",
        "1",
        "é",
        "?",
        "&",
    ]
    tails += [
        "=",
        "#",
        "\\",
        " ",
        "\t",
        "'",
        "|",
        "~",
        "utm_a=1",
        ";",
        "+",
        "\x00",
        "😀",
        "[",
        "b=1",
    ]
    tail = st.lists(st.sampled_from(tails) | st.text(max_size=2), max_size=12).map("".join)
    parts = [*map(st.sampled_from, (schemes, credentials, hosts, ports, ["/", "?", "#", ""])), tail]
    return st.tuples(*parts).map("".join)


def nearly_plain():
    """Ordinary URLs, some with one unusual part."""
    hosts = ["example.org", "a1.b-c.co_1.uk", "127.0.0.1", "xn--n3h.net", "h"]
    words = ["a", "index.html", "~me", "b=1", "&", "%20", "%C3%A9", ";v=1", "-", "(x)", "@", "/"]
    odds = ["", ".", "/.", "/../", "%", "%7E", "%c3", "'", "A", "\\", "?", "#", ":"]
    starts = map(st.sampled_from, (["http://", "https://"], hosts, ["", ":8080", ":45123"], "/"))
    tail = st.lists(st.sampled_from(words), max_size=6).map("".join)
    ordinary = st.tuples(*starts, tail, st.sampled_from(["", "?q"]), tail).map("".join)

    def insert(text, odd, place):
        place %= len(text) + 1
        return text[:place] + odd + text[place:]

    odd = st.sampled_from(odds) | st.characters(codec=None)
    return ordinary | st.builds(insert, ordinary, odd, st.integers(0, 200))


any_text = nearly_plain() | urlish() | st.text(st.characters(codec=None), max_size=40)
any_rules = st.sampled_from(
    [DEFAULT, Rules(sort_query=True), Rules(drop_tracking=True), Rules(True, True)]
)


@given(any_text, any_text, any_rules)
def test_no_text_raises_anything_but_invalid_url(text, other, rules):
    calls = [(f, text) for f in (host, origin, scheme, port, target, url.registered_domain)]
    for function, *arguments in [*calls, (resolve, other, text), (canonicalize, text, rules)]:
        with suppress(InvalidURL):
            function(*arguments)
    assert url.registered_domain(url.registered_domain(text)) == url.registered_domain(text)


def test_lone_surrogates_are_refused_everywhere():
    for arguments in [("http://a/\ud800", "x"), ("http://a/", "\udfff")]:
        with pytest.raises(InvalidURL):
            resolve(*arguments)


@given(any_text, any_rules)
@example("http://a/%%341", DEFAULT)
@example("http://a/??", DEFAULT)
@example("http://a.1../", DEFAULT)
@example("http://u@./", DEFAULT)
@example("http://a/?utm_x&", Rules(drop_tracking=True))
def test_canonicalize_is_idempotent_and_keeps_the_place(text, rules):
    try:
        key = canonicalize(text, rules)
    except InvalidURL:
        return

    assert key == canonicalize(key, rules)
    assert key == canonicalize(resolve(BASE, key), rules)
    assert (scheme(key), host(key), port(key)) == (scheme(text), host(text), port(text))
    assert origin(key) == origin(text)
    assert "#" not in key


@given(any_text, urlish(), any_rules)
def test_resolving_first_changes_no_key(text, base, rules):
    try:
        key = canonicalize(resolve(base, text), rules)
    except InvalidURL:
        return

    assert key == canonicalize(key, rules)
    assert key == canonicalize(resolve(key, key), rules)


@given(nearly_plain())
@example("http://a.b/?")
@example("http://a.b/a%7Eb")
@example("http://a.b/.")
@example("http://a.b:80/")
@example("http://a.0x/")
@example("http://a/it's?it's")
@example("http://a/#\ud800")
def test_the_short_way_for_plain_urls_equals_the_parser(text):
    plain = url._PLAIN.match(text)
    if plain:
        assert plain["key"] == url._normalize(text)
        assert plain["origin"] == url._attribute(text, "origin")
        assert plain["host"] == url._attribute(text, "hostname")
        assert target(text) == url._attribute(text, "pathname") + url._attribute(text, "search")


def test_the_short_way_agrees_on_every_ascii_character():
    codes = range(0x01, 0x80)
    for form in (text for n in codes for text in (chr(n), f"%{n:02X}", f"%{n:02x}")):
        for text in (f"http://a.b/x{form}y", f"http://a.b/?x{form}y", f"http://a.b/#x{form}y"):
            assert canonicalize(text) == url._normalize(text)
        try:
            expected = url._normalize(f"http://a{form}b/")
        except InvalidURL:
            with pytest.raises(InvalidURL):
                canonicalize(f"http://a{form}b/")
        else:
            assert expected == canonicalize(f"http://a{form}b/")


@pytest.mark.parametrize(
    "text",
    [
        "http://example.org/a",
        "https://www.example.org/a/path/to/page.html?id=12&x=abc",
        "http://127.0.0.1:45123/page/71",
        "https://example.org/a%20b/%C3%A9?q=%2F#part-2",
    ],
)
def test_plain_urls_take_the_short_way(text):
    assert url._PLAIN.match(text)


HOSTILE = {
    "dot segments": "http://h/" + "../" * 70_000,
    "descend and climb": "http://h/" + "a/" * 50_000 + "../" * 50_000,
    "stray percents": "http://h/" + "%" * 200_000,
    "escapes": "http://h/" + "%41" * 70_000,
    "kept escapes": "http://h/" + "%2F" * 70_000 + '"',
    "parameters": "http://h/?" + "&a=" * 70_000,
    "tracking": "http://h/?" + "utm_a=1&" * 24_000,
    "plain but for the end": "http://h/" + "a" * 200_000 + '"',
    "plain query but for the end": "http://h/?" + "a" * 200_000 + '"',
    "labels": "http://" + "a." * 100_000 + "org/",
    "dots": "http://" + "." * 200_000 + "/",
    "dots in credentials": "http://" + "a.:1" * 50_000 + "@h./",
    "at signs": "http://" + "@" * 200_000 + "h/",
    "idna": "http://" + "ü." * 60_000 + "/",
    "punycode": "http://xn--" + "9" * 200_000 + "/",
    "combining marks": "http://" + "a\u0301\u0300" * 50_000 + "/",
    "address": "http://" + "1." * 100_000 + "/",
    "brackets": "http://[" + ":" * 200_000 + "]/",
    "tabs": "h\t" * 100_000,
    "nuls": "\0" * 200_000,
    "fragment": "http://h/#" + "é" * 100_000,
    "data": "data:," + " " * 200_000 + "#",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_long_url_of_malice_costs_little(text):
    def read():
        for function in (canonicalize, host, origin, port, url.registered_domain):
            with suppress(InvalidURL):
                function(text)
        for rules in (Rules(sort_query=True), Rules(drop_tracking=True)):
            with suppress(InvalidURL):
                canonicalize(resolve(BASE, text), rules)

    assert takes_at_most(5, read)


def test_long_names_are_not_remembered():
    url._registered_domain.cache_clear()
    url.registered_domain("a." * 1000 + "example.org")

    assert url._registered_domain.cache_info().currsize == 0


def test_the_list_of_public_suffixes_is_not_read_before_it_is_needed():
    code = (
        "import sys, crawler.url as u\n"
        "u.registered_domain('localhost'), u.registered_domain('127.0.0.1')\n"
        "assert 'publicsuffixlist' not in sys.modules\n"
        "assert u.registered_domain('www.example.org') == 'example.org'\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
