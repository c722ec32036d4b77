import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crawler.data import Response
from crawler.errors import InvalidURL
from crawler.spider import resolve_href
from crawler.spider.resolve_href import HrefResolver
from crawler.url import resolve

PAGE = Response("http://site.test/folder/page", 200)
PIECES = st.sampled_from(
    [
        *"/?#.:%&='\\@[]| \t\n~-^`\"<{\x7f\0éaZ0",
        *"// .. ../ ./ ../../ %2e %2F xn--a http: https:// h.test h.test:80 data: http://127.0.0.1:8080/".split(),  # noqa: SIM905
    ]
)
BASES = st.sampled_from(
    "http://site.test http://h/a/b/c.html http://h/a//b/?x=/y http://h\\\\a\\\\b https://u:p@site.test:8080/a/b?c#d http://h./x/ ftp://h.test/a/b "  # noqa: SIM905
    "http://127.0.0.1:8080/a/b file:///c:/x data:text/html,x mailto:x no http://é.test/ä/ http://[bad".split()
)


@given(BASES, st.lists(PIECES, max_size=8).map("".join))
def test_the_fast_path_gives_what_the_url_standard_gives(base, href):
    resolver = HrefResolver(PAGE, base)
    try:
        expected = resolve(base, href)
    except InvalidURL:
        expected = href
        if re.match(r"https?://[a-z0-9_.-]+/", href):
            # Absolute URLs need no base; the standard refuses them only if the base is not a URL.
            return

    assert resolver(href) == expected
    assert resolver(href) == expected


VALID_BASES = BASES.filter(lambda base: base not in {"no", "http://[bad"})
LATIN = Response("http://site.test/folder/page", 200, {"content-type": "text/html;charset=latin-1"})


@given(
    st.sampled_from([PAGE, LATIN]), VALID_BASES, st.lists(st.lists(PIECES, max_size=8).map("".join))
)
@example(PAGE, "http://h/a/b", ["é/..", "?é#é", "\\\\h.test\\x", "/\t/h.test/", "a\\?\\"])
@example(LATIN, "http://h/a/b", ["é", "é?é#é", "?\N{SNOWMAN}"])
@example(PAGE, "http://h/a/b", ["é", "\ud800", "x\0"])
def test_hrefs_that_are_simplified_give_what_the_url_standard_gives(page, base, hrefs):
    resolver = HrefResolver(page, base)

    for href, simple in zip(hrefs, resolver.simplified(hrefs), strict=True):
        url = resolver.known[simple] or resolver.with_query(simple)
        if url and "\ud800" not in href:
            assert url == HrefResolver(page, base).parse(href)


@pytest.mark.parametrize(
    ("href", "url"),
    [
        ("é", "http://site.test/folder/%C3%A9"),
        ("/é?é", "http://site.test/%C3%A9?%C3%A9"),
        ("\\a\\b", "http://site.test/a/b"),
        (" /a b\n", "http://site.test/a%20b"),
        ('//other.test/"<>', "http://other.test/%22%3C%3E"),
    ],
)
def test_odd_characters_need_no_parser(href, url):
    resolver = HrefResolver(PAGE, PAGE.url)

    assert resolver.known[resolver.simplified([href])[0]] == url


def test_a_simple_query_needs_no_parser():
    resolver = HrefResolver(PAGE, f"{PAGE.url}?x#y")

    assert resolver.with_query("?a=1#b") == f"{PAGE.url}?a=1#b"
    assert not resolver.with_query("?'")


def test_what_is_remembered_of_a_site_does_not_grow_without_end():
    resolver = HrefResolver(PAGE, "http://big.test/")

    for number in range(10_000):
        assert resolver(f"/{number}") == f"http://big.test/{number}"

    assert len(resolver.known) <= 1024


def test_what_is_remembered_of_whole_urls_does_not_grow_without_end():
    most = resolve_href._MANY_WHOLE
    resolvers = [HrefResolver(PAGE, f"http://site{n}.test/") for n in range(3)]

    for number in range(most + 5000):
        url = f"http://other.test/{number}"
        assert resolvers[number % 3](url) == url
        assert resolvers[0](url) == url

    assert 0 < len(resolve_href._whole) <= most
    assert all(len(resolver.known) <= 1024 for resolver in resolvers)


def test_long_urls_are_resolved_and_not_remembered():
    resolver = HrefResolver(PAGE, "http://long.test/")
    whole, rooted = "http://other.test/" + "x" * 300, "/" + "x" * 300

    assert (resolver(whole), resolver(rooted)) == (whole, "http://long.test" + rooted)

    assert whole not in resolve_href._whole
    assert not {whole, rooted} & resolver.known.keys()


def test_a_whole_url_that_one_site_has_met_is_known_to_the_others():
    url = "http://other.test/met"
    first, second = (HrefResolver(PAGE, f"http://{name}.test/") for name in ("first", "second"))

    assert first(url) == second(url) == url

    assert resolve_href._whole[url] == url


def test_a_whole_url_that_its_own_site_has_met_is_known_to_the_others():
    url = "http://127.0.0.1:8080/met"
    own, other = (
        HrefResolver(PAGE, f"http://{site}/a/") for site in ("127.0.0.1:8080", "site.test")
    )

    found = own(url)

    assert found == url
    assert other.known[url] is found


def test_what_is_remembered_of_a_folder_does_not_grow_without_end():
    resolver = HrefResolver(PAGE, "http://big.test/a/b/page")

    for number in range(10_000):
        assert resolver(f"../{number}.html") == f"http://big.test/a/{number}.html"

    assert 0 < len(resolver.known) <= 1024


@pytest.mark.parametrize(
    "href", ["x.html", "../x.html#top", "./a/../b", "#top", "?q=1", "mailto:x"]
)
def test_a_page_of_another_folder_gets_its_own_urls(href):
    pages = ["http://h.test/a/b/1", "http://h.test/a/b/2", "http://h.test/a/c/1", "http://h.test/"]

    for base in pages * 2:
        assert HrefResolver(PAGE, base)(href) == resolve(base, href)


def test_what_a_site_remembers_is_its_own():
    first, second = (HrefResolver(PAGE, f"http://{name}.test/") for name in ("first", "second"))

    assert (first("/x"), second("/x")) == ("http://first.test/x", "http://second.test/x")


@pytest.mark.parametrize(
    ("given", "base"),
    [
        ("/b/", "http://site.test/b/"),
        ("http://other.test/", "http://other.test/"),
        (None, PAGE.url),
        ("http://[bad", PAGE.url),
        ("data:text/html,x", PAGE.url),
        ("/" + "b" * 3000, PAGE.url),
        ("é" * 1000, PAGE.url),
    ],
)
def test_the_base_of_a_page_is_its_own_url_if_it_names_none_that_can_be_used(given, base):
    assert resolve_href.base_of(PAGE.url, given) == base


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_url_without_a_scheme_has_that_of_its_page_and_needs_no_parser(scheme):
    resolver = HrefResolver(PAGE, f"{scheme}://site.test/folder/page")

    assert resolver.known["//other.test/x?y#z"] == f"{scheme}://other.test/x?y#z"
    assert resolver.known["///other.test/x"] is None
    assert resolver("///other.test/x") == f"{scheme}://other.test/x"
