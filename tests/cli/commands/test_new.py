import json

import pytest

from crawler.testing import LoopbackSite

from ..conftest import crawler

PAGES = {"/": '<title> Home </title><a href="/a">a</a>', "/a": "<title>A</title>"}


@pytest.mark.parametrize("kind", ["spider", "project"])
def test_what_is_created_runs(kind, tmp_path):
    with LoopbackSite(PAGES) as site:
        made = crawler("new", kind, "my_shop", site.url(), cwd=tmp_path)
        place = tmp_path / "my_shop" if kind == "project" else tmp_path
        run = ("run", "my_shop.py", "-O", "my_shop.jsonl", "-s", "delay=0")
        done = crawler(*run, cwd=place)

    assert made.returncode == 0, made.stderr
    assert "crawler run my_shop.py -O my_shop.jsonl" in made.stdout
    assert done.returncode == 0, done.stderr
    items = map(json.loads, (place / "my_shop.jsonl").read_text().splitlines())
    assert sorted(item["title"] for item in items) == ["A", "Home"]
    assert "class MyShop(Spider)" in (place / "my_shop.py").read_text()


def test_nothing_is_overwritten(tmp_path):
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "shop.py").write_text("mine")

    done = crawler("new", "project", "shop", cwd=tmp_path)

    assert done.returncode == 2
    assert "shop/shop.py exists" in done.stderr
    assert [path.name for path in (tmp_path / "shop").iterdir()] == ["shop.py"]


@pytest.mark.parametrize(
    ("given", "url"),
    [("shop.test", "https://shop.test"), ('http://a.test/?q="', 'http://a.test/?q=\\"')],
)
def test_the_start_url_is_one_that_can_be_crawled(given, url, tmp_path):
    crawler("new", "spider", "shop", given, cwd=tmp_path)

    assert f'start_urls = ["{url}"]' in (tmp_path / "shop.py").read_text()


@pytest.mark.parametrize("name", ["my-shop", "../shop", "class", "3d", ""])
def test_a_name_must_be_one_of_a_module(name, tmp_path):
    done = crawler("new", "spider", name, cwd=tmp_path)

    assert done.returncode == 2
    assert "cannot be the name of a Python module" in done.stderr
    assert list(tmp_path.iterdir()) == []
