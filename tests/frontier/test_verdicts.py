"""The quick answer about a link is the one that finding out would give."""

from hypothesis import given
from hypothesis import strategies as st

from crawler.data import Link
from crawler.frontier import Frontier, Politeness, Scope

URLS = [
    "http://a.test/",
    "http://a.test/x",
    "http://a.test/x#part",
    "http://a.test/drop",
    "http://a.test/" + "long" * 600,
    "http://b.test/",
    "mailto:somebody",
    "http://[",
]


def frontier(max_depth):
    scope = Scope(["a.test"], max_depth, exclude=["drop"])
    return Frontier(scope, politeness=Politeness(robots=False))


def turned_away(crawl, url, depth):
    """Do what an analyzer does with a URL."""
    verdict = crawl.verdicts.known.get(url)
    if verdict is None or verdict[0] > depth:
        return False
    crawl.verdicts.count([verdict], depth)
    return True


@given(
    found=st.lists(st.tuples(st.sampled_from(URLS), st.integers(1, 5)), max_size=30),
    max_depth=st.sampled_from([None, 2, 3]),
)
def test_quick_and_slow_say_the_same(found, max_depth):
    quick, slow = frontier(max_depth), frontier(max_depth)

    for url, depth in found:
        link = Link(url, depth, "http://a.test/")
        if not turned_away(quick, url, depth):
            quick.admit(link)
        slow.admit(link)

    assert quick.counts() == slow.counts()
    assert len(quick) == len(slow)


def test_what_was_let_in_is_known_at_once():
    one = frontier(None)
    one.admit(Link(URLS[0], 1, None))

    assert turned_away(one, URLS[0], 1)
    assert one.counts().turned_away == {"seen": 1}


def test_what_nobody_has_met_is_not_answered():
    assert not turned_away(frontier(None), URLS[0], 1)
