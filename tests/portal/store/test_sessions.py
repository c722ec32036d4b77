import pytest
from argon2 import PasswordHasher

from crawler.portal.store.sessions import Sessions
from crawler.portal.store.users import Users

HOUR = 3600.0
QUICK = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


@pytest.fixture
def user(database):
    return Users(database, QUICK).add("anna", "a long password", "viewer")


def test_a_cookie_leads_to_its_user(database, user):
    sessions = Sessions(database)

    cookie = sessions.open(user, 0)

    assert sessions.find(cookie, 1).user == user
    assert sessions.find("another", 1) is None
    assert sessions.find("", 1) is None


def test_only_the_hash_of_a_cookie_is_stored(database, user):
    cookie = Sessions(database).open(user, 0)

    [row] = database.rows("SELECT * FROM session")

    assert cookie not in str(tuple(row))
    assert len(cookie) >= 43


def test_a_session_ends_by_itself(database, user):
    sessions = Sessions(database)
    cookie = sessions.open(user, 0)

    assert sessions.find(cookie, 13 * HOUR) is None
    for hour in range(0, 7 * 24, 10):
        assert sessions.find(cookie, hour * HOUR) is not None
    assert sessions.find(cookie, 7 * 24 * HOUR + 1) is None


def test_a_closed_session_is_over(database, user):
    sessions = Sessions(database)
    cookie = sessions.open(user, 0)

    sessions.close(cookie)

    assert sessions.find(cookie, 1) is None


def test_a_removed_user_has_no_session(database, user):
    users, sessions = Users(database, QUICK), Sessions(database)
    users.add("boss", "a long password", "admin")
    cookie = sessions.open(user, 0)

    users.remove(user.id)

    assert sessions.find(cookie, 1) is None
