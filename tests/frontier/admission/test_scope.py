import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.frontier.admission.scope import Scope
from crawler.url import canonicalize, host, registered_domain

from ...cpu_time import takes_at_most

#: What the host of a first request makes of the crawl's own domain.
DOMAINS = [
    ("cn.bing.com", "bing.com"),
    ("www.beijing.gov.cn", "beijing.gov.cn"),
    ("127.0.0.1:8080", "127.0.0.1"),
    ("www.bbc.co.uk", "bbc.co.uk"),
    ("www.tsinghua.edu.cn", "tsinghua.edu.cn"),
    ("example.co.jp", "example.co.jp"),
    ("a.github.io", "a.github.io"),
    ("WWW.BAIDU.CN", "baidu.cn"),
    ("v1.2.3.4.example.com", "example.com"),
    ("localhost", "localhost"),
    ("localhost:80", "localhost"),
    ("cn.bing.com:8080", "bing.com"),
    ("[::1]", "::1"),
    ("[::1]:8080", "::1"),
    ("mit.edu", "mit.edu"),
    ("www.mit.edu", "mit.edu"),
    ("x.dev", "x.dev"),
    ("x.app", "x.app"),
    ("www.x.xyz", "x.xyz"),
    ("www.nhm.museum", "nhm.museum"),
    ("WWW.BING.COM", "bing.com"),
    ("www.example.com.", "example.com"),
    ("com", "com"),
    ("123.abc", "123.abc"),
    ("foo..com", "foo..com"),
    ("www.bücher.de", "xn--bcher-kva.de"),
    ("0x7f.1", "127.0.0.1"),
]


@pytest.mark.parametrize(("name", "domain"), DOMAINS)
def test_the_own_domain_of_a_first_request(name, domain):
    scope = Scope().including([f"http://{name}/"])

    assert frozenset({domain}) == scope.own_domains
    assert scope.refusal(canonicalize(f"http://{name}/x"), 0) is None
    assert scope.refusal("http://other.example/", 0) == "domain"


@pytest.mark.parametrize(
    ("entry", "accepted", "refused"),
    [
        # a registered domain accepts its hosts
        ("example.org", ["example.org", "www.example.org", "a.b.example.org:81"], ["example.com"]),
        ("example.org", ["user:pass@example.org"], ["example.org.evil.net", "badexample.org"]),
        ("example.org", ["example.org."], ["org", "example.org@evil.net", "xample.org"]),
        ("EXAMPLE.Org.", ["www.example.org"], ["example.net"]),
        (" example.org\n", ["www.example.org"], ["example.net"]),
        ("bbc.co.uk", ["www.bbc.co.uk"], ["itv.co.uk", "co.uk"]),
        ("a.github.io", ["a.github.io", "x.a.github.io"], ["b.github.io", "github.io"]),
        ("bücher.de", ["www.xn--bcher-kva.de"], ["bucher.de"]),
        ("XN--BCHER-KVA.de", ["xn--bcher-kva.de"], ["xn--bcher-kvb.de"]),
        ("printer.local", ["printer.local", "a.printer.local"], ["other.local", "local"]),
        # a host below it accepts itself
        ("www.bing.com", ["www.bing.com", "www.bing.com:8080"], ["bing.com", "a.www.bing.com"]),
        ("v1.2.3.4.example.com", ["v1.2.3.4.example.com"], ["example.com", "1.2.3.4"]),
        # names of one label, and addresses
        ("localhost", ["localhost", "localhost:8000"], ["a.localhost", "127.0.0.1"]),
        ("intranet", ["intranet"], ["a.intranet"]),
        ("127.0.0.1", ["127.0.0.1", "127.0.0.1:9"], ["127.0.0.2", "localhost"]),
        ("127.1", ["127.0.0.1"], ["127.0.0.2"]),
        ("0x7F000001", ["127.0.0.1"], ["127.0.0.2"]),
        ("2130706433", ["127.0.0.1"], ["127.0.0.2"]),
        ("::1", ["[::1]", "[::1]:8080"], ["[::2]"]),
        ("[::1]", ["[::1]", "[::1]:8080"], ["[::2]"]),
        ("[0:0::1]", ["[::1]"], ["[::2]"]),
        ("2001:DB8::A", ["[2001:db8::a]"], ["[2001:db8::b]"]),
        # a port
        ("[::1]:8080", ["[::1]:8080"], ["[::1]", "[::1]:8081"]),
        ("127.0.0.1:80", ["127.0.0.1"], ["127.0.0.1:81"]),
        ("localhost:8000", ["localhost:8000"], ["localhost", "localhost:80000"]),
        ("www.bing.com:8080", ["www.bing.com:8080"], ["www.bing.com", "cn.bing.com:8080"]),
        ("example.org:8080", ["example.org:8080", "www.example.org:8080"], ["www.example.org"]),
    ],
)
def test_accepted_domains(entry, accepted, refused):
    scope = Scope([entry])

    for authority in accepted:
        assert scope.refusal(canonicalize(f"http://{authority}/a?b"), 0) is None, authority
    for authority in refused:
        assert scope.refusal(f"http://{authority}/a?b", 0) in ("domain", "invalid"), authority


def test_a_port_means_the_default_one_of_the_scheme_too():
    scope = Scope(["example.org:443"])

    assert scope.refusal("https://example.org/", 0) is None
    assert scope.refusal("http://example.org:443/", 0) is None
    assert scope.refusal("http://example.org/", 0) == "domain"


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("", "blank"),
        (" \t", "blank"),
        ("https://www.bing.com/x", "is a URL: give the host only, 'www.bing.com'"),
        ("http://u:p@bing.com:80/", "is a URL: give the host only, 'bing.com'"),
        ("example.org/", "is a URL: give the host only, 'example.org'"),
        ("user@example.org", "is a URL: give the host only, 'example.org'"),
        ("example.org?x", "is a URL"),
        ("example.org\\x", "is a URL"),
        ("http://", "is a URL"),
        ("*.example.org", "has a wildcard: 'example.org' accepts all its sub-domains"),
        (".example.org", "has a wildcard: 'example.org' accepts all its sub-domains"),
        ("*.www.bbc.co.uk", "has a wildcard: 'bbc.co.uk' accepts all its sub-domains"),
        ("*.co.uk", "has a wildcard: name each domain"),
        ("192.168.*", "has a wildcard: name each domain"),
        ("com", "is a public suffix"),
        ("dev", "is a public suffix"),
        ("co.uk", "is a public suffix"),
        ("CO.UK.", "is a public suffix"),
        ("edu.cn", "is a public suffix"),
        ("github.io", "is a public suffix"),
        ("github.io:443", "is a public suffix"),
        ("a b.org", "is not a host name or address"),
        ("exa\nmple.org", "is not a host name or address"),
        ("foo..com", "is not a host name or address"),
        ("example.org..", "is not a host name or address"),
        ("exa<mple.org", "is not a host name or address"),
        ("exa%2fmple.org", "is not a host name or address"),
        ("\ud800.org", "is not a host name or address"),
        ("256.1.1.1", "is not a host name or address"),
        ("1.2.3.4.5", "is not a host name or address"),
        ("[::1", "is not a host name or address"),
        ("[::1]x", "is not a host name or address"),
        (":::", "is not a host name or address"),
        ("a:b:c", "is not a host name or address"),
        (":80", "is not a host name or address"),
        ("example.org:", "has a bad port: ''"),
        ("example.org:0", "has a bad port: '0'"),
        ("example.org:65536", "has a bad port: '65536'"),
        ("example.org:http", "has a bad port: 'http'"),
        ("example.org:８０", "has a bad port"),
        ("example.org:" + "9" * 5000, "has a bad port"),
        (None, "is not text"),
        (b"example.org", "is not text"),
        (7, "is not text"),
    ],
)
def test_an_entry_that_can_never_match_is_refused(entry, message):
    with pytest.raises(ValueError) as caught:
        Scope(["example.org", entry])

    assert f"accepted domain {entry!r}" in str(caught.value)
    assert message in str(caught.value)


@pytest.mark.parametrize("domains", ["example.org", b"example.org", "", None, 7])
def test_accepted_domains_are_a_collection(domains):
    with pytest.raises(ValueError, match="must be a list of domains, not just"):
        Scope(domains)


@pytest.mark.parametrize("depth", [-1, True, False, 1.0, "1"])
def test_a_bad_depth_is_refused(depth):
    with pytest.raises(ValueError, match="max_depth must be 0 or more, or None"):
        Scope(max_depth=depth)


@pytest.mark.parametrize("length", [0, -1, True, None, 1.5])
def test_a_bad_length_is_refused(length):
    with pytest.raises(ValueError, match="max_url_length must be 1 or more"):
        Scope(max_url_length=length)


@pytest.mark.parametrize(
    ("max_depth", "depth", "expected"),
    [(0, 0, None), (0, 1, "depth"), (2, 2, None), (2, 3, "depth"), (None, 10**9, None)],
)
def test_the_last_depth_is_fetched(max_depth, depth, expected):
    assert expected == Scope(["example.org"], max_depth).refusal("http://example.org/", depth)


def test_length():
    scope = Scope(["example.org"], max_url_length=22)

    assert scope.refusal("http://example.org/abc", 0) is None
    assert scope.refusal("http://example.org/abcd", 0) == "length"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("mailto:someone@example.org", "scheme"),
        ("javascript:void(0)", "scheme"),
        ("ftp://example.org/", "scheme"),
        ("data:," + "x" * 5000, "scheme"),
        ("file:///etc/hosts", "scheme"),
        ("https-x://example.org/", "scheme"),
        ("", "invalid"),
        ("example.org", "invalid"),
        ("http://", "invalid"),
        ("http:///", "invalid"),
        ("http://exa mple.org/", "invalid"),
        ("http://example.org:65536/", "invalid"),
        ("http://other.org/" + "x" * 5000, "domain"),
        ("http://example.org/" + "x" * 5000, "depth"),
        ("https://example.org/", "depth"),
    ],
)
def test_the_first_reason_is_given(url, expected):
    assert expected == Scope(["example.org"]).refusal(url, 1)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("HTTP://EXAMPLE.ORG/", None),
        ("http:example.org", None),
        ("http:\\\\example.org\\", None),
        ("http:///example.org/", None),
        ("http://\t/example.org/", None),
        ("http://example.org\\@evil.net/", None),
        ("http://example.org?@evil.net/", None),
        ("http://evil.net\\@example.org/", "domain"),
        ("http://evil.net#@example.org/", "domain"),
        ("http://example.org%2f@evil.net/", "domain"),
        ("http://" + "u" * 1000 + "@example.org/", None),
    ],
)
def test_a_url_that_is_not_canonical_is_judged_by_where_it_leads(url, expected):
    assert expected == Scope(["example.org"]).refusal(url, 0)


def test_nothing_is_accepted_before_something_is_named():
    assert Scope().refusal("http://example.org/", 0) == "domain"


def test_including_adds_to_what_was_accepted():
    before = Scope(["example.org:8080"], max_depth=3)
    after = before.including(["http://www.example.org:8080/", "http://[::1]/", "http://a.b.net/"])

    assert after.max_depth == 3
    assert before.refusal("http://b.net/", 0) == "domain"
    for url in ("http://example.org/", "https://[::1]:7/", "http://b.net/", "http://c.b.net:9/"):
        assert after.refusal(url, 0) is None
    assert after.including(["http://c.net/"]).own_domains == after.own_domains | {"c.net"}


def test_including_a_host_that_is_a_public_suffix_accepts_that_host_only():
    scope = Scope().including(["https://github.io/"])

    assert scope.refusal("https://github.io/x", 0) is None
    assert scope.refusal("https://a.github.io/", 0) == "domain"


def test_first_urls_that_cannot_be_crawled_add_nothing():
    scope = Scope().including(["mailto:a@example.org", "http://a b/", "", "ftp://example.org/"])

    assert scope == Scope()


def test_a_scope_is_a_value():
    scope = Scope(["b.org", "A.org", "a.org."])

    assert scope == Scope(("a.org", "b.org"))
    assert hash(scope) == hash(Scope({"a.org", "b.org"}))
    assert copy.deepcopy(scope) == scope


def test_verdicts_are_remembered_within_bounds():
    scope = Scope(["example.org"])
    for number in range(100):
        scope.refusal(f"http://h{number % 10}.example.org/{number}", 0)
    scope.refusal("http://" + "u" * 1000 + "@example.org/", 0)
    memory = scope._site_refusal.cache_info()

    assert (memory.misses, memory.currsize) == (10, 10)
    assert memory.maxsize is not None


HOSTS = [
    *("example.org", "www.example.org", "EXAMPLE.org", "example.org.", "other.org", "a.github.io"),
    *("github.io", "127.0.0.1", "0x7f.1", "127.1", "[::1]", "[::2]", "localhost", "b\xfccher.de"),
    *("xn--bcher-kva.de", "bad host", "a..b", "exa%6Dple.org", "", "example.org@other.org"),
    *("other.org@example.org", "u:p@example.org", "[", "exa\tmple.org", "h" * 310, "a\\b", "\x7f"),
]
PARTS_AFTER = [
    "",
    "/",
    "/x",
    "?q",
    "#f",
    "\\x",
    "/@other.org/",
    "//other.org/",
    "/x?/#/",
    "/\xfc",
    " /x",
]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["http://", "https://", "HTTP://", "http:/", "http:", "ftp://", ""]),
            st.sampled_from(HOSTS) | st.text(max_size=8),
            st.sampled_from(["", ":", ":80", ":8080", ":99999", ":x"]),
            st.sampled_from(PARTS_AFTER) | st.text(max_size=5).map("/".__add__),
        ).map("".join),
        max_size=10,
    )
)
def test_what_is_remembered_of_a_site_is_what_looking_again_would_say(met):
    accepted = [
        "example.org",
        "127.0.0.1:8080",
        "[::1]",
        "localhost",
        "www.other.org:80",
        "b\xfccher.de",
    ]
    scope = Scope(accepted, max_depth=None, max_url_length=10_000).including(["http://a.github.io"])

    for url in [*met, *met]:
        assert scope.refusal(url, 1) == scope._host_refusal(url)


@given(st.text(st.characters(codec=None), max_size=30), st.integers(0, 3))
def test_no_text_makes_it_raise(text, depth):
    scope = Scope(["example.org"], max_depth=2)
    reasons = (None, "invalid", "scheme", "domain", "depth", "length")

    assert scope.refusal(text, depth) in reasons
    assert scope.refusal(f"http://{text}/", depth) in reasons
    assert scope.including([text]).refusal(text, 0) in reasons
    try:
        Scope([text])
    except ValueError as error:
        assert type(error) is ValueError  # noqa: PT017 - not one of its subclasses


@given(st.from_regex(r"([a-z]{1,3}\.){0,4}(org|co\.uk|github\.io|local|zz)", fullmatch=True))
def test_what_an_entry_accepts_follows_from_the_registered_domain(name):
    try:
        scope = Scope([name])
    except ValueError:
        return
    below = f"http://sub.{name}/"

    assert scope.refusal(f"http://{name}/", 0) is None
    assert (scope.refusal(below, 0) is None) == (registered_domain(host(below)) == name)


def test_hostile_urls_cost_little():
    scope = Scope(["example.org"])
    hostile = ("http://" + "a." * 100_000 + "org/", "http://" + "@" * 200_000, "x" * 200_000)

    assert takes_at_most(5, lambda: [scope.refusal(text, 0) for text in hostile])


def patterns(include=(), exclude=()):
    return Scope(["example.org"], max_depth=None, include=include, exclude=exclude)


@pytest.mark.parametrize(
    ("include", "exclude", "path", "expected"),
    [
        ([], [], "a", None),
        (["/blog/"], [], "blog/1", None),
        (["/blog/"], [], "shop/1", "include"),
        (["/blog/", r"/\d+$"], [], "shop/1", None),
        ([], [r"\.pdf$"], "a.pdf", "exclude"),
        ([], [r"\.pdf$"], "a.pdf?b", None),
        ([], ["/private", "logout"], "a?logout=1", "exclude"),
        (["/blog/"], ["draft"], "blog/draft", "exclude"),
        (["/blog/"], ["draft"], "shop/draft", "exclude"),
        (["/blog/"], ["draft"], "blog/1", None),
        (["(?i)/BLOG/"], [], "blog/1", None),
        (["^http://example.org/a"], [], "a", None),
    ],
)
def test_patterns(include, exclude, path, expected):
    assert expected == patterns(include, exclude).refusal(f"http://example.org/{path}", 1)


def test_first_requests_need_not_be_of_the_kind_that_is_included():
    scope = patterns(["/blog/"], ["draft"])

    assert scope.refusal("http://example.org/", 0) is None
    assert scope.refusal("http://example.org/", 1) == "include"
    assert scope.refusal("http://example.org/draft", 0) == "exclude"


def test_patterns_are_the_last_reason():
    scope = Scope(["example.org"], max_url_length=30, include=["/blog/"], exclude=["x"])

    assert scope.refusal("http://x.org/", 0) == "domain"
    assert scope.refusal("http://example.org/x", 1) == "depth"
    assert scope.refusal("http://example.org/" + "x" * 30, 0) == "length"


@pytest.mark.parametrize("name", ["include", "exclude"])
@pytest.mark.parametrize(
    "pattern", ["(", "*a", "[z-a]", "(?P<a>", "a{99999999999}", "\\", None, b"a"]
)
def test_a_bad_pattern_is_named(name, pattern):
    with pytest.raises(ValueError) as caught:
        Scope(["example.org"], **{name: ["fine", pattern]})

    assert type(caught.value) is ValueError
    assert f"{name} pattern {pattern!r} is " in str(caught.value)


@pytest.mark.parametrize("name", ["include", "exclude"])
def test_patterns_are_a_collection(name):
    with pytest.raises(ValueError, match=f"{name} must be a list of patterns, not just '/blog/'"):
        Scope(["example.org"], **{name: "/blog/"})


def test_patterns_are_part_of_the_value():
    scope = patterns(["a"], ["b"])

    assert scope == patterns(("a",), ("b",))
    assert scope != patterns(["a"])
    assert hash(scope) == hash(patterns(["a"], ["b"]))
    assert scope.including(["http://c.net/"]).refusal("http://c.net/b", 1) == "exclude"
    scope.refusal("http://example.org/", 1)
    assert copy.deepcopy(scope) == scope


def test_a_star_accepts_every_host_and_nothing_but_http():
    scope = Scope(["*"], None)

    assert scope.refusal("http://anything.example/", 9) is None
    assert scope.refusal("https://10.0.0.1:99/", 9) is None
    assert scope.refusal("ftp://anything.example/", 0) == "scheme"


def test_files_may_be_anywhere_except_where_no_url_may_be():
    scope = Scope(["site.test"], 1, include=["/page/"], exclude=["secret"]).for_files

    assert scope.refusal("http://elsewhere.test/a.png", 9) is None
    assert scope.refusal("http://site.test/secret.png", 0) == "exclude"
    assert scope.refusal("ftp://site.test/a.png", 0) == "scheme"
    assert scope.refusal("http://site.test/" + "a" * 3000, 0) == "length"
