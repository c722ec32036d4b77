import pytest

from .cached_site import Cached


@pytest.fixture
def cached(tmp_path, clock):
    return lambda page, *outer, **options: Cached(tmp_path, clock, page, *outer, **options)
