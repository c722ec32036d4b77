import pytest


@pytest.fixture(params=["archive.warc.gz", "archive.warc"])
def path(request, tmp_path):
    return tmp_path / request.param
