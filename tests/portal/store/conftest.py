import pytest

from crawler.portal.store.database import Database


@pytest.fixture
def database(tmp_path):
    database = Database(tmp_path / "portal.db")
    yield database
    database.close()
