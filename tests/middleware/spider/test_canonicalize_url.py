import pytest

from crawler.middleware import CanonicalizeUrl

from .chains import HOME, opened, passed


@pytest.mark.parametrize(
    ("rules", "url", "canonical"),
    [
        (["normalize-percent-encoding"], "/%7ea?b=2&a=%c3%bc#top", "~a?b=2&a=%C3%BC"),
        (["sort-query-args"], "/?b=2&a=1", "?a=1&b=2"),
        (["sort-query-args", "drop-tracking-args"], "/?utm_source=x&b=2&a=1", "?a=1&b=2"),
        ([], "/a?b=2&a=1", "a?b=2&a=1"),
    ],
)
def test_urls_are_made_canonical_by_the_rules_named(rules, url, canonical):
    chain = opened(CanonicalizeUrl, canonicalization_rules=rules)

    assert passed(chain, url).url == HOME + canonical


def test_what_is_no_url_cannot_be_made_canonical_and_passes():
    assert passed(opened(CanonicalizeUrl([])), "http://[").url == "http://["


def test_a_rule_nobody_knows_is_an_error_at_the_start():
    with pytest.raises(ValueError, match="'sort' is not one of normalize-percent-encoding"):
        opened(CanonicalizeUrl(["sort"]))
