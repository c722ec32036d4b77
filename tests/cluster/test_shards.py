"""Which shard a link belongs to, and which links were sent."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.cluster.fold import ShardState
from crawler.cluster.journal import ClusterJournal
from crawler.cluster.shards import SentLinks, ShardMap
from crawler.data import Links
from crawler.errors import InvalidURL
from crawler.frontier import Fingerprint, Frontier, Scope
from crawler.url import host, resolve, scheme

PAGE = "http://a.test/dir/page?x=1"


def frontier_of(host_name, shards):
    """The frontier of the shard of a host, and its journal."""
    journal = ClusterJournal(
        shards.of_host(host_name),
        shards,
        ShardState(),
        {},
        fingerprint=Fingerprint(),
        now=lambda: 0.0,
    )
    return Frontier(Scope(["*"], max_depth=None), journal=journal), journal


def places(href):
    """Where a link of PAGE gets to: the shards that it is admitted in or sent to, and what it is there."""
    shards = ShardMap(1_000_003)
    frontier, journal = frontier_of("a.test", shards)
    frontier.admit_many(Links([href], 1, PAGE))
    found = [(journal.shard, row[2]) for row in journal.batch.rows if row[0] == "a"]
    for target, entries in journal.batch.sent().items():
        for entry in entries:
            urls = [entry["request"]["url"]] if isinstance(entry, dict) else entry[2]
            found += [(target, url) for url in urls]
    frontier.close()
    return shards, found


def by_resolving(shards, href):
    """The shard of *href*, unless no frontier would let it in."""
    try:
        url = resolve(PAGE, href)
        is_crawled = scheme(url) in ("http", "https") and host(url)
        return [shards.of_host(host(url))] if is_crawled else []
    except InvalidURL:
        return []


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
def test_a_link_gets_into_the_shard_of_its_host_however_it_is_written(href):
    shards, found = places(href)

    assert [shard for shard, _ in found] == by_resolving(shards, href)


@given(st.lists(st.sampled_from(["/", "\\", ":", "http", "b.test", "\t", "?", "#", "@", ".", "x"])))
def test_no_link_however_odd_gets_into_the_shard_of_another_host(parts):
    shards, found = places("".join(parts))

    assert [shard for shard, _ in found] in ([], by_resolving(shards, "".join(parts)))
    assert [shards.of(url) for _, url in found] == [shard for shard, _ in found]


def test_links_are_sent_with_those_of_their_page_and_what_is_out_of_scope_is_not():
    shards = ShardMap(1_000_003)
    frontier, journal = frontier_of("a.test", shards)
    urls = ["http://b.test/1", "mailto:x@b.test", "http://b.test/2", "http://b.test/1"]

    frontier.admit_many(Links(urls, 1, PAGE))
    frontier.admit_many(Links(urls, 1, PAGE))

    sent = [1, PAGE, ["http://b.test/1", "http://b.test/2"]]
    assert journal.batch.sent() == {shards.of_host("b.test"): [sent]}
    assert frontier.view.counts().turned_away == {"scheme": 2, "seen": 4}
    frontier.close()


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
