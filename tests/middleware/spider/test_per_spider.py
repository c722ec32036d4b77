import pytest

from crawler.middleware import Duplicates, SpiderChain

from .chains import HOME, Spider, opened, passed


def test_each_crawl_has_a_set_of_its_own():
    shared = Duplicates()

    assert passed(opened(shared), "/a") is not None
    assert passed(opened(shared), "/a") is not None


def test_a_chain_that_was_not_opened_says_so():
    with pytest.raises(Exception, match="Duplicates was not opened for"):
        SpiderChain([Duplicates], Spider()).request(HOME)
