import pytest

from crawler.portal.projects.unused_versions import UnusedVersions
from crawler.portal.store.runs import Runs
from crawler.portal.store.tasks import Task, Tasks

DAY = 86400.0


@pytest.fixture
def versions(builds, project):
    """The files of five versions that were built on the first day; the last has failed."""
    for name in ("1.0", "1.1", "1.2", "2.0", "3.0"):
        builds.versions.ask(project, name, f"release/shop/{name}", "c", 0.0)
    for version in builds.versions.of_project(project.id):
        if version.version == "3.0":
            builds.versions.set_state(version.id, "failed", "no")
        else:
            builds.versions.set_ready(version.id, "d", ["shop.py:Shop"])
        builds.path(version).mkdir(parents=True)
    return builds.versions


def states(versions, project):
    return {one.version: one.state for one in versions.of_project(project.id)}


def test_versions_that_nobody_needs_go_after_90_days(database, builds, project, versions):
    tasks = Tasks(database)
    number = tasks.save(Task("t", source="shop@1.0", spider="shop.py:Shop"), now=0, who="anna")
    tasks.save(Task("l", source="shop@latest", spider="shop.py:Shop"), now=0, who="anna")
    run = Runs(database).ask(tasks.find(number), now=50 * DAY, who="anna")
    database.change("UPDATE run SET spec = replace(spec, '@1.0', '@1.1') WHERE id = ?", run)
    now = [89 * DAY]
    unused = UnusedVersions(database, builds, lambda: now[0])

    unused.step()
    assert "removed" not in states(versions, project).values()
    now[0] = 91 * DAY
    unused.step()

    # 1.0 is named, 1.1 was run, 2.0 is the latest.
    assert states(versions, project) == {
        "1.0": "ready",
        "1.1": "ready",
        "1.2": "removed",
        "2.0": "ready",
        "3.0": "removed",
    }
    there = {one.version for one in versions.of_project(project.id) if builds.path(one).exists()}
    assert there == {"1.0", "1.1", "2.0"}


def test_a_removed_version_is_built_again_only_if_somebody_asks(
    database, builds, project, versions, repository
):
    repository.tag("release/shop/1.2", {})
    UnusedVersions(database, builds, lambda: 91 * DAY).step()
    [removed] = [one for one in versions.of_project(project.id) if one.version == "1.2"]

    assert builds.look(project) == 0
    versions.retry(removed.id, 91 * DAY)
    UnusedVersions(database, builds, lambda: 92 * DAY).step()

    assert versions.find(removed.id).state == "asked"
