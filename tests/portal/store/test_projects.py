import pytest

from crawler.portal.store.projects import Project, Projects, Versions
from crawler.portal.store.secret_box import SecretBox

SHOP = Project(0, "shop", "https://example.org/shop.git", "password", "anna", "v{version}")


@pytest.fixture
def projects(database, tmp_path):
    return Projects(database, SecretBox(tmp_path / "key"))


@pytest.fixture
def shop(projects):
    return projects.find(projects.add(SHOP, "s3same", now=1, who="anna"))


def test_secrets_are_sealed(projects, shop, database):
    hook = projects.hook_secret(shop)

    stored = str([tuple(row) for row in database.rows("SELECT * FROM project")])

    assert projects.secret(shop) == "s3same"
    assert len(hook) >= 43
    assert "s3same" not in stored
    assert hook not in stored
    projects.rotate_hook(shop, now=2, who="anna")
    assert projects.hook_secret(shop) != hook


def test_names_are_unique(projects, shop):
    with pytest.raises(ValueError, match="already"):
        projects.add(SHOP, "", now=2, who="anna")


def test_a_delivery_counts_once(projects, shop):
    new = [projects.is_new_delivery(shop, "github", "d1", "taken", now) for now in (1.0, 2.0)]

    assert new == [True, False]
    assert len(projects.deliveries(shop)) == 1


def test_host_keys_are_pinned_at_first_use(projects, shop):
    projects.pin_hosts(shop, "first")
    projects.pin_hosts(shop, "second")

    assert projects.known_hosts(shop) == "first"


def test_versions_are_in_their_own_order(database, shop):
    versions = Versions(database)
    for name in ("1.9", "1.10", "1.2", "2.0rc1"):
        assert versions.ask(shop, name, name, "c", 1)
    assert not versions.ask(shop, "1.9", "other", "d", 2)

    assert [one.version for one in versions.of_project(shop.id)] == ["2.0rc1", "1.10", "1.9", "1.2"]
    assert versions.chosen(shop.id, "latest") is None


def test_a_version_that_is_ready_never_changes(database, shop):
    versions = Versions(database)
    versions.ask(shop, "1.0", "v1.0", "c", 1)
    versions.set_ready(1, "digest", ["a.py:A"])

    versions.set_state(1, "failed", "no")
    versions.retry(1, 2)

    assert versions.find(1).state == "ready"


def test_a_project_goes_with_its_versions(projects, database, shop):
    Versions(database).ask(shop, "1.0", "v1.0", "c", 1)

    projects.remove(shop, now=2, who="anna")

    assert projects.all() == []
    assert database.rows("SELECT * FROM version") == []
