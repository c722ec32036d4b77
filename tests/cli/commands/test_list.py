import json

from ..conftest import crawler, titles_spider


def test_spiders_are_listed_as_run_names_them(tmp_path):
    (tmp_path / "shop").mkdir()
    (tmp_path / ".hidden").mkdir()
    (tmp_path / "shop" / "titles.py").write_text(titles_spider("http://site.test/"))
    (tmp_path / ".hidden" / "titles.py").write_text(titles_spider("http://site.test/"))
    (tmp_path / "no_spider.py").write_text("class Tool: ...")
    (tmp_path / "broken.py").write_text("class (")
    (tmp_path / "danger.py").write_text(
        "raise SystemExit('ran')\nclass A(crawler.CrawlSpider): ..."
    )

    done = crawler("list", cwd=tmp_path)
    as_json = crawler("list", "shop", "--json", cwd=tmp_path)

    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        "danger.py:A",
        "shop/titles.py:Other",
        "shop/titles.py:Titles",
    ]
    assert json.loads(as_json.stdout.splitlines()[0]) == {"spider": "shop/titles.py:Other"}


def test_an_empty_directory_says_what_to_do(tmp_path):
    done = crawler("list", cwd=tmp_path)

    assert done.stdout == ""
    assert "crawler new spider" in done.stderr
