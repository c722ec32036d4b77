import logging

import pytest

from crawler.middleware import Offsite

from .chains import opened, passed


@pytest.mark.parametrize(
    ("url", "follows"),
    [
        ("http://example.com/", True),
        ("https://EXAMPLE.com:8080/", True),
        ("http://a.b.example.com./", True),
        ("http://sub.other.org/", True),
        ("http://other.org/", False),
        ("http://badexample.com/", False),
        ("http://examplexcom/", False),
        ("http://example.com.evil.test/", False),
        ("http://example.com@evil.test/", False),
        ("javascript:alert(1)", False),
        ("http://[", False),
        ("http://bücher.test/", True),
    ],
)
def test_hosts_are_those_allowed_and_those_below(url, follows):
    chain = opened(Offsite, allowed_domains=["Example.com", "sub.other.org", "bücher.test"])

    assert (passed(chain, url) is not None) is follows
    assert (chain.request(url) is not None) is follows


def test_without_domains_all_hosts_are_allowed():
    assert passed(opened(Offsite, allowed_domains=[]), "http://any.test/") is not None


def test_each_host_is_told_of_once(caplog):
    caplog.set_level(logging.INFO)
    chain = opened(Offsite(["site.test"]))

    for url in ("http://a.test/1", "http://a.test/2", "http://b.test/"):
        assert passed(chain, url) is None

    assert [record.args[0] for record in caplog.records] == ["a.test", "b.test"]


def test_another_policy_can_be_written():
    class SameSuffix(Offsite):
        def follows(self, host, spider):
            return host.endswith(".test")

    chain = opened(SameSuffix([]))

    assert passed(chain, "http://a.test/") is not None
    assert passed(chain, "http://a.example/") is None


@pytest.mark.parametrize("wrong", [["http://a.test/"], ["a.test:80"], ["*.a.test"], [""], "a.test"])
def test_what_is_no_domain_is_an_error_at_the_start(wrong):
    with pytest.raises(ValueError, match="allowed"):
        opened(Offsite(wrong))
