from crawler import __version__
from crawler.fetch.user_agent import user_agent


def test_it_is_the_name_and_the_version_of_the_product():
    assert user_agent() == f"crawler/{__version__}"
