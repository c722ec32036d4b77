import pytest
from argon2 import PasswordHasher

from crawler.portal.store.users import ROLES, User, Users

PASSWORD = "a long password"
QUICK = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


@pytest.fixture
def users(database):
    users = Users(database, QUICK)
    users.add("anna", PASSWORD, "admin")
    return users


def test_only_the_right_password_is_taken(users):
    assert users.check("anna", PASSWORD, 0).role == "admin"
    assert users.check("anna", "another password", 0) is None
    assert users.check("nobody", PASSWORD, 0) is None


def test_guessing_locks_a_name_for_longer_each_time(users):
    now = 100.0
    for _ in range(5):
        assert users.check("anna", "wrong", now) is None

    assert users.check("anna", PASSWORD, now + 0.5) is None
    assert users.check("anna", "wrong", now + 1.5) is None
    assert users.check("anna", PASSWORD, now + 3.0) is None
    assert users.check("anna", PASSWORD, now + 4.0) is not None


def test_passwords_are_not_stored(users, database):
    [row] = database.rows("SELECT * FROM user")

    assert row["hash"].startswith("$argon2id$")
    assert PASSWORD not in str(tuple(row))


@pytest.mark.parametrize(
    ("name", "password", "role"),
    [
        ("Anna", PASSWORD, "viewer"),
        ("<b>", PASSWORD, "viewer"),
        ("bob", "short", "viewer"),
        ("bob", PASSWORD, "king"),
        ("anna", PASSWORD, "viewer"),
    ],
)
def test_what_is_wrong_is_named(users, name, password, role):
    with pytest.raises(ValueError, match=r"a name|a password|a role|already"):
        users.add(name, password, role)


def test_the_last_admin_stays(users):
    [anna] = users.all()

    with pytest.raises(ValueError, match="last admin"):
        users.remove(anna.id)


def test_a_role_may_do_what_those_below_it_may():
    for number, role in enumerate(ROLES):
        user = User(1, "x", role)
        assert [user.may(other) for other in ROLES] == [n <= number for n in range(3)]


def test_an_address_that_guesses_many_names_is_locked(users):
    for number in range(20):
        assert users.check(f"user{number}", "x", 100.0, "192.0.2.7") is None

    assert users.check("anna", PASSWORD, 100.5, "192.0.2.7") is None
    assert users.check("anna", PASSWORD, 100.5, "192.0.2.8") is not None
    assert users.check("anna", PASSWORD, 101.5, "192.0.2.7") is not None
    # A right password ends the count.
    assert users.check("nobody", "x", 102.0, "192.0.2.7") is None
    assert users.check("anna", PASSWORD, 102.0, "192.0.2.7") is not None


def test_an_unknown_name_costs_a_hash_as_a_known_one_does(database):
    class Counted(PasswordHasher):
        verified = 0

        def verify(self, hashed, password):
            self.verified += 1
            return super().verify(hashed, password)

    hasher = Counted(time_cost=1, memory_cost=8, parallelism=1)
    users = Users(database, hasher)
    users.add("anna", "a long password", "viewer")

    for name in ("anna", "eve"):
        assert users.check(name, "wrong", 1.0) is None

    assert hasher.verified == 2
