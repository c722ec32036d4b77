"""A store, and a site that answers slowly."""

from itertools import count

import pytest
from gevent.event import Event

from crawler.portal.projects.builds import Builds
from crawler.portal.projects.spider_sources import SpiderSources
from crawler.portal.store.database import Database
from crawler.portal.store.projects import Projects
from crawler.portal.store.secret_box import SecretBox
from crawler.testing import LoopbackSite


@pytest.fixture
def database(tmp_path):
    database = Database(tmp_path / "portal.db")
    yield database
    database.close()


@pytest.fixture
def sources(database, tmp_path):
    """The spider files in the directory of the test, and no project."""
    projects = Projects(database, SecretBox(tmp_path / "portal.key"))
    return SpiderSources(tmp_path, Builds(database, projects, tmp_path / "versions"))


@pytest.fixture
def held():
    """A site of many pages that answers ten requests, and the others when `release` is set."""
    release, asked = Event(), count(1)

    def page(request):
        n = int(request.url.rpartition("/")[2])
        assert next(asked) <= 10 or release.wait(240)
        return "".join(f'<a href="/{n * 3 + k}">x</a>' for k in (1, 2, 3))

    with LoopbackSite({f"/{n}": page for n in range(1000)}) as site:
        site.release = release
        yield site
        release.set()
