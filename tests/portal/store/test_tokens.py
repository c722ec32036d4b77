import pytest
from argon2 import PasswordHasher

from crawler.portal.store.tokens import Tokens
from crawler.portal.store.users import Users

DAY = 86400.0
QUICK = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


@pytest.fixture
def users(database):
    return Users(database, QUICK)


@pytest.fixture
def anna(users):
    return users.add("anna", "a long password", "operator")


def test_a_token_leads_to_its_user_and_scope(database, anna):
    tokens = Tokens(database)

    token = tokens.add(anna, "nightly", "read", days=1, now=0)

    assert tokens.find(token, 1) == (anna, "read")
    assert tokens.find(token[:-1], 1) is None
    assert tokens.find("", 1) is None


def test_only_the_hash_of_a_token_is_stored(database, anna):
    token = Tokens(database).add(anna, "nightly", "read", days=1, now=0)

    stored = str([tuple(row) for row in database.rows("SELECT * FROM token")])

    assert token not in stored
    assert len(token) >= 43
    assert token not in str([tuple(row) for row in database.rows("SELECT * FROM audit")])


def test_a_token_expires(database, anna):
    tokens = Tokens(database)
    token = tokens.add(anna, "nightly", "run", days=2, now=0)

    assert tokens.find(token, 2 * DAY - 1)
    assert tokens.find(token, 2 * DAY + 1) is None


def test_tokens_go_with_their_user(database, users, anna):
    tokens = Tokens(database)
    token = tokens.add(anna, "nightly", "run", days=2, now=0)

    users.remove(anna.id)

    assert tokens.find(token, 1) is None


def test_users_remove_their_own_tokens_and_admins_all(database, users, anna):
    tokens = Tokens(database)
    bob, root = (
        users.add("bob", "a long password", "viewer"),
        users.add("root", "a long password", "admin"),
    )
    tokens.add(anna, "a", "run", days=2, now=0)
    tokens.add(bob, "b", "read", days=2, now=0)

    tokens.remove(1, who=bob, now=1)
    assert [one.name for one in tokens.all()] == ["a", "b"]
    tokens.remove(2, who=bob, now=1)
    tokens.remove(1, who=root, now=1)

    assert tokens.all() == []


@pytest.mark.parametrize(
    ("name", "scope", "days"),
    [
        ("", "read", 1),
        ("x" * 65, "read", 1),
        ("x", "admin", 1),
        ("x", "read", 0),
        ("x", "read", 999),
    ],
)
def test_what_is_wrong_is_named(database, anna, name, scope, days):
    with pytest.raises(ValueError, match=r"a token|scope"):
        Tokens(database).add(anna, name, scope, days=days, now=0)


def test_a_viewer_gets_no_token_that_runs(database, users):
    viewer = users.add("bob", "a long password", "viewer")

    with pytest.raises(ValueError, match="scope"):
        Tokens(database).add(viewer, "x", "run", days=1, now=0)
