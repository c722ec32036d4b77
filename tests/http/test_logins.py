from crawler import Request
from crawler.http.logins import Logins

NAMED = Request("http://u:p@h/", headers={"X": "1"}, meta={"a": 1})


def test_a_login_that_the_user_named_is_sent_to_its_origin():
    logins = Logins()

    named = logins.learn(NAMED)

    assert dict(named.headers) == {"X": "1"}
    assert dict(named.meta) == {"a": 1}
    assert named.id == NAMED.id
    for url in ("http://h/", "http://h/other", "http://h:80/x"):
        assert logins.sign(Request(url)).headers["authorization"] == "Basic dTpw"
    assert dict(logins.sign(named).headers) == {"X": "1", "Authorization": "Basic dTpw"}


def test_other_origins_get_nothing():
    logins = Logins()
    logins.learn(NAMED)

    for url in ("https://h/", "http://h:81/", "http://www.h/", "http://x/"):
        request = Request(url)
        assert logins.sign(request) is request


def test_a_field_that_was_set_by_hand_is_neither_learned_nor_replaced():
    logins = Logins()
    by_hand = Request("http://h/", headers={"Authorization": "Bearer x"})

    assert logins.learn(by_hand) is by_hand
    assert not logins.sign(Request("http://h/")).headers
    logins.learn(NAMED)
    assert logins.sign(by_hand) is by_hand
