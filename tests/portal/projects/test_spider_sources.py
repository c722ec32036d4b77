import sys
from pathlib import Path

import pytest

from crawler.portal.projects.spider_sources import SpiderSources
from crawler.portal.store.tasks import Task

from .conftest import SPIDER


@pytest.fixture
def sources(builds, project, tmp_path):
    (tmp_path / "files").mkdir()
    (tmp_path / "files/own.py").write_text(SPIDER)
    for version in ("1.0", "1.1", "2.0rc1"):
        builds.versions.ask(project, version, f"release/shop/{version}", "c" * 40, 1)
    for one in builds.versions.of_project(project.id):
        builds.versions.set_ready(one.id, "d", [f"v{one.version}.py:Shop"])
    builds.versions.ask(project, "3.0", "release/shop/3.0", "c" * 40, 1)
    return SpiderSources(tmp_path / "files", builds)


def test_a_task_can_choose_what_is_ready(sources):
    assert sources.choices() == {
        "": ["own.py:Shop"],
        "shop@latest": ["v1.1.py:Shop"],
        "shop@2.0rc1": ["v2.0rc1.py:Shop"],
        "shop@1.1": ["v1.1.py:Shop"],
        "shop@1.0": ["v1.0.py:Shop"],
    }


@pytest.mark.parametrize(
    ("source", "spider", "words"),
    [
        ("", "own.py:Shop", ""),
        ("", "", ""),
        ("shop@1.0", "v1.0.py:Shop", ""),
        ("shop@1.0", "v1.1.py:Shop", "no such spider"),
        ("shop@3.0", "x.py:Shop", "not ready|no version"),
        ("other@latest", "own.py:Shop", "no version"),
    ],
)
def test_what_cannot_be_chosen_is_said(sources, source, spider, words):
    problem = sources.problem(Task("t", source=source, spider=spider))

    assert any(word in problem for word in words.split("|")) if words else not problem


def test_latest_is_what_it_is_when_a_run_starts(sources, builds):
    task = Task("t", source="shop@latest", spider="v1.1.py:Shop")

    resolved = sources.resolved(task)

    assert resolved.source == "shop@1.1"
    directory, python = sources.place(resolved)
    assert directory.parent == python.parents[2]
    assert sources.place(Task("t")) == (directory.parents[3] / "files", Path(sys.executable))
    with pytest.raises(LookupError, match="not ready"):
        sources.place(Task("t", source="shop@3.0"))
