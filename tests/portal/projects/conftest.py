"""A bare repository with a spider, and projects of it."""

import os
import subprocess

import pytest

from crawler.portal.projects.builds import Builds
from crawler.portal.store.database import Database
from crawler.portal.store.projects import Project, Projects
from crawler.portal.store.secret_box import SecretBox

SPIDER = """
from crawler import Spider

class Shop(Spider):
    name = "shop"
    start_urls = ["http://127.0.0.1:9/"]
"""


class Repository:
    """A bare repository in *root*/git, and a clone of it to work in."""

    def __init__(self, root):
        self.bare, self.work = root / "git/shop.git", root / "work"
        self.url = f"file://{self.bare}"
        self.git("init", "-q", "--bare", str(self.bare), cwd=root)
        self.git("clone", "-q", str(self.bare), str(self.work), cwd=root)

    def git(self, *words, cwd=None):
        names = ("AUTHOR_NAME", "AUTHOR_EMAIL", "COMMITTER_NAME", "COMMITTER_EMAIL")
        environment = {f"GIT_{name}": "anna@example.org" for name in names}
        quiet = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        return subprocess.run(
            ["git", *words],
            cwd=cwd or self.work,
            env=os.environ | environment | quiet,
            check=True,
            capture_output=True,
            text=True,
            timeout=120,
        ).stdout.strip()

    def tag(self, tag, files, *options):
        """Commit *files*, tag the commit and push the tag; return the commit."""
        for name, text in files.items():
            (self.work / name).parent.mkdir(parents=True, exist_ok=True)
            (self.work / name).write_text(text)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "change")
        self.git("tag", *options, tag)
        self.git("push", "-q", "-f", "origin", tag)
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path):
    return Repository(tmp_path)


@pytest.fixture
def database(tmp_path):
    database = Database(tmp_path / "portal.db")
    yield database
    database.close()


@pytest.fixture
def projects(database, tmp_path):
    return Projects(database, SecretBox(tmp_path / "portal.key"))


@pytest.fixture
def project(projects, repository):
    given = Project(0, "shop", repository.url, "", "", "release/{name}/{version}")
    return projects.find(projects.add(given, "", now=1, who="anna"))


@pytest.fixture
def builds(database, projects, tmp_path):
    return Builds(database, projects, tmp_path / "versions", [f"file://{tmp_path}/git/"])
