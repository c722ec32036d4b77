"""Real builds of a bare repository."""

import gevent
import pytest

from crawler.portal.projects.builds import Builds
from crawler.portal.store.projects import Project

from .conftest import SPIDER


def build_all(builds):
    with gevent.Timeout(240):
        while builds.versions.in_state("asked", "fetching", "building", "checking"):
            builds.step()
            builds.join()


def test_a_tag_becomes_a_version_and_what_fails_is_said(builds, project, repository):
    commit = repository.tag("release/shop/1.0", {"spiders/shop.py": SPIDER})
    broken = {"spiders/shop.py": SPIDER + "\nimport no_such_module\n"}
    repository.tag("release/shop/1.1", broken)
    repository.tag("release/shop/1.2", {"requirements.txt": "./no-such-directory\n"})
    repository.tag("release/other/9.0", {})

    assert builds.look(project) == 3
    assert builds.look(project) == 0
    build_all(builds)

    found = {one.version: one for one in builds.versions.of_project(project.id)}
    assert {name: one.state for name, one in found.items()} == {
        "1.0": "ready",
        "1.1": "failed",
        "1.2": "failed",
    }
    assert "no_such_module" in builds.log_end(found["1.1"])
    assert "no-such-directory" in builds.log_end(found["1.2"])
    latest = builds.versions.chosen(project.id, "latest")
    assert (latest.version, latest.commit, latest.reason) == ("1.0", commit, "")
    assert latest.spiders == ("spiders/shop.py:Shop",)
    assert len(latest.digest) == 64


def test_a_tag_that_has_moved_is_an_alarm_and_never_a_build(builds, project, repository):
    repository.tag("release/shop/1.0", {"shop.py": SPIDER})
    builds.look(project)
    [before] = builds.versions.of_project(project.id)
    moved = repository.tag("release/shop/1.0", {"shop.py": "evil"}, "-f")

    for _ in range(2):
        assert builds.look(project) == 0

    assert builds.versions.of_project(project.id) == [before]
    [alarm] = builds.alarms.open()
    assert moved[:12] in alarm.text
    builds.alarms.see(alarm.id, who="anna", now=2)
    builds.look(project)
    assert builds.alarms.open() == []


def test_a_build_that_was_interrupted_has_failed(builds, project, repository, projects, database):
    repository.tag("release/shop/1.0", {"shop.py": SPIDER})
    builds.look(project)
    [version] = builds.versions.of_project(project.id)
    builds.versions.set_state(version.id, "building")

    again = Builds(database, projects, builds._root)  # the portal is back
    again.step()

    [failed] = again.versions.of_project(project.id)
    assert (failed.state, failed.reason.partition(":")[0]) == ("failed", "interrupted")
    again.versions.retry(failed.id, 2)
    assert again.versions.find(failed.id).state == "asked"


def test_of_two_portals_one_builds(builds, project, repository, projects, database, monkeypatch):
    repository.tag("release/shop/1.0", {"shop.py": SPIDER})
    builds.look(project)
    other, started = Builds(database, projects, builds._root), []
    for each in (builds, other):
        monkeypatch.setattr(each, "_build", lambda one, each=each: started.append((each, one.tag)))

    for each in (builds, other, other, builds):
        each.step()
        each.join()

    assert started == [(builds, "release/shop/1.0")]
    [version] = builds.versions.of_project(project.id)
    assert version.state == "fetching"
    builds.stop()
    other.step()  # what the first one has left is over
    assert other.versions.find(version.id).state == "failed"
    other.stop()


@pytest.mark.parametrize("error", [OSError("disk full"), ZeroDivisionError("oops")])
def test_a_build_that_breaks_ends_no_other(builds, project, repository, monkeypatch, error):
    repository.tag("release/shop/1.0", {"shop.py": SPIDER})
    builds.look(project)

    def broken(*_):
        raise error

    monkeypatch.setattr(builds, "_steps", broken)
    build_all(builds)

    [version] = builds.versions.of_project(project.id)
    assert version.state == "failed"
    assert str(error) in version.reason


def test_the_title_of_an_annotated_tag_can_name_the_version(builds, projects, repository):
    given = Project(0, "titled", repository.url, "", "", "{Release}:{Name}:{Version}")
    project = projects.find(projects.add(given, "", now=1, who="anna"))
    title = ("-a", "-m", "nightly:titled:1.5\n\nmore about it")
    commit = repository.tag("anything", {"shop.py": SPIDER}, *title)
    repository.tag("nightly/titled/2.0", {})  # its name is not looked at

    assert builds.look(project) == 1

    [version] = builds.versions.of_project(project.id)
    assert (version.version, version.tag, version.commit) == ("1.5", "anything", commit)
