"""nginx as the server of a site."""

import resource
import urllib.request
from unittest import mock

import pytest

from crawler.bench.measuring.child import BenchError
from crawler.bench.sites import nginx
from crawler.bench.sites import served_site as sites
from crawler.bench.sites.shape import Shape, path


@pytest.fixture(params=["own server", "nginx"])
def site(request):
    """The same site, by every server there is."""
    if request.param == "nginx" and not nginx.executable():
        pytest.skip("nginx is not installed")
    with (
        mock.patch.object(sites, "kind", return_value=request.param),
        sites.served(Shape(40)) as it,
    ):
        assert it.kind == request.param
        yield it


def get(site, target):
    with urllib.request.urlopen(site.shape.url(0)[:-1] + target, timeout=120) as answer:
        return answer.read(), answer.headers["content-type"]


def test_nginx_is_found_outside_of_path(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(nginx, "_PLACES", (str(tmp_path),))
    assert sites.server_name() == "own server"

    (tmp_path / "nginx").touch(0o755)

    assert nginx.executable() == str(tmp_path / "nginx")
    assert sites.server_name() == "nginx"


def test_nginx_that_does_not_start_says_why(monkeypatch):
    if not nginx.executable():
        pytest.skip("nginx is not installed")
    monkeypatch.setattr(nginx, "_CONFIGURATION", "nonsense;")

    with (
        pytest.raises(BenchError, match=r'did not start: .*unknown directive "nonsense"'),
        nginx.Nginx.serving(Shape(1)),
    ):
        pass


@pytest.fixture
def few_descriptors():
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (100, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.mark.usefixtures("few_descriptors")
def test_nginx_serves_more_pages_than_it_may_have_open_files():
    if not nginx.executable():
        pytest.skip("nginx is not installed")
    with nginx.Nginx.serving(Shape(200)) as site:
        for number in range(200):
            get(site, path(number))

        assert site.counts() == (200, 200)
        assert "Too many" not in site.errors()
