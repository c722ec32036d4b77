"""Documentation that packages have installed."""

from unittest import mock

import pytest

from crawler.bench.measuring.child import BenchError
from crawler.bench.sites import served_site as sites
from crawler.bench.sites.docs import PACKAGES, installed


def test_only_what_is_installed_is_found(tmp_path):
    first = tmp_path / "cppreference" / "doc" / "html" / "en" / "index.html"
    first.parent.mkdir(parents=True)
    first.touch()

    (found,) = installed(share=tmp_path)

    assert found.package == "cppreference-doc-en-html"
    assert found.url().endswith("/en/index.html")
    assert list(installed(["sqlite3-doc"], share=tmp_path)) == []
    assert len(PACKAGES) == 6


def test_documentation_needs_nginx(tmp_path):
    (tmp_path / "doc" / "sqlite3").mkdir(parents=True)
    (tmp_path / "doc" / "sqlite3" / "index.html").touch()
    (found,) = installed(share=tmp_path)

    with (
        mock.patch.object(sites, "server_name", return_value="own server"),
        pytest.raises(BenchError, match="needs nginx"),
    ):
        sites.served(found)
