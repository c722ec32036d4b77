from crawler import __version__
from crawler.fetch.user_agent import user_agent


def test_it_is_the_name_and_the_version_of_the_product():
    assert user_agent() == f"crawler/{__version__}"


def test_a_contact_is_added_unless_it_is_there():
    assert user_agent(None, "me@site.test") == f"crawler/{__version__} (+me@site.test)"
    assert user_agent("Bot/2", "http://site.test/bot") == "Bot/2 (+http://site.test/bot)"
    assert user_agent("Bot/2 (me@site.test)", "me@site.test") == "Bot/2 (me@site.test)"
