from crawler.spider.spider_files import spiders_below


def test_spiders_are_found_without_running_their_files(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / ".hidden").mkdir()
    text = "raise SystemExit\nclass A(Spider): ...\nclass B(A): ...\nclass C: ...\n"
    for name in ("shop.py", "sub/more.py", ".hidden/none.py"):
        (tmp_path / name).write_text(text)
    (tmp_path / "broken.py").write_text("class (")

    found = [place.removeprefix(f"{tmp_path}/") for place in spiders_below(tmp_path)]

    assert found == ["shop.py:A", "shop.py:B", "sub/more.py:A", "sub/more.py:B"]
