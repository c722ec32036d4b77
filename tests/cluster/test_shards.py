"""Which shard a link belongs to, and which links were sent."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.cluster.shards import SentLinks, ShardMap
from crawler.data import Links
from crawler.errors import InvalidURL
from crawler.url import host, resolve_or_keep

PAGE = "http://a.test/dir/page?x=1"


def by_resolving(shards, href):
    try:
        return shards.of_host(host(resolve_or_keep(PAGE, href)))
    except InvalidURL:
        return None


@pytest.mark.parametrize(
    "href",
    [
        *(
            "/x",
            "x",
            "../x",
            "?y",
            "#z",
            "",
            "/",
            "//b.test/x",
            "https:///b.test/",
            "HTTP://B.test",
        ),
        *("http:x", "http://b.test", "http://b.test:80/x", "http://b.test?x/y", "http://b.test#x"),
        *("/\t/b.test/x", "\\\\b.test\\x", "/\\b.test", " http://b.test/", "ht\ntp://b.test/x"),
        *(
            "http://user@b.test/",
            "http://b.test@c.test/",
            "mailto:x@b.test",
            "http://[::1]/",
            "http://",
        ),
        *("http://b.test\\@c.test/", "http://b%2etest/", "http://é.test/", "javascript:x", "a:b"),
    ],
)
def test_the_quick_look_at_a_link_finds_the_shard_of_its_host(href):
    shards = ShardMap(1_000_003)

    [shard] = shards.split(Links([href], 1, PAGE))

    assert shard == by_resolving(shards, href)


@given(st.lists(st.sampled_from(["/", "\\", ":", "http", "b.test", "\t", "?", "#", "@", ".", "x"])))
def test_no_link_however_odd_gets_into_the_shard_of_another_host(parts):
    shards, href = ShardMap(1_000_003), "".join(parts)

    [shard] = shards.split(Links([href], 1, PAGE))

    assert shard == by_resolving(shards, href)


def test_the_hosts_of_a_domain_share_a_shard_if_they_share_their_limits():
    together, apart = ShardMap(1000, by_domain=True), ShardMap(1000)
    names = [f"http://{n}.example.org/" for n in range(20)]

    assert len({together.of(name) for name in names}) == 1
    assert len({apart.of(name) for name in names}) > 10


def test_a_link_is_sent_once_unless_it_is_found_nearer():
    sent = SentLinks(2)

    assert [sent.add("x", 3), sent.add("x", 3), sent.add("x", 2), sent.add("x", 2)] == [
        *(True, False),
        *(True, False),
    ]
    assert all(sent.add(str(n), 0) for n in range(10))
    assert sent.add("x", 2), "what was forgotten is sent again"
