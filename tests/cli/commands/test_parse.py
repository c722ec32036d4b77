import json

from ..conftest import crawler


def test_items_and_requests_of_one_page_are_printed(titles, tmp_path):
    done = crawler("parse", titles.url(), "titles.py:Titles", "-a", "tag=x", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        'item     {"title": "Home", "tag": "x"}',
        f"request  GET {titles.url('/a')}",
        f"request  GET {titles.url('/gone')}",
    ]
    assert len(titles.requests) == 1


def test_the_same_as_json(titles, tmp_path):
    done = crawler("parse", titles.url(), "titles.py:Titles", "--json", cwd=tmp_path)

    item, first, _ = map(json.loads, done.stdout.splitlines())
    assert item == {"item": {"title": "Home", "tag": None}}
    assert first == {"request": {"url": titles.url("/a"), "depth": 1}}


def test_a_callback_that_fails_or_is_missing_is_an_error_of_one_line(titles, tmp_path):
    (tmp_path / "broken.py").write_text(
        "from crawler import Spider\n\nclass Broken(Spider):\n"
        "    def parse(self, page):\n        yield {'n': 1}\n        raise KeyError('price')\n"
    )

    failed = crawler("parse", titles.url(), "broken.py", cwd=tmp_path)
    missing = crawler("parse", titles.url(), "broken.py", "-c", "parse_item", cwd=tmp_path)

    assert failed.returncode == missing.returncode == 1
    assert failed.stdout == 'item     {"n": 1}\n'
    assert "KeyError: 'price'" in failed.stderr
    assert "Broken has no callback 'parse_item'" in missing.stderr


def test_a_callback_gets_its_arguments_and_meta(titles, tmp_path):
    (tmp_path / "pages.py").write_text(
        "from crawler import Spider\n\nclass Pages(Spider):\n"
        "    def parse(self, page, number):\n        yield {'n': number, 'm': page.meta['m']}\n"
    )
    run = ("parse", titles.url(), "pages.py", "--meta", '{"m": 1}')

    done = crawler(*run, "--cb-kwargs", '{"number": 2}', cwd=tmp_path)
    wrong = [crawler(*run, "--cb-kwargs", text, cwd=tmp_path) for text in ("[2]", "{number: 2}")]

    assert done.stdout == 'item     {"n": 2, "m": 1}\n'
    assert [one.returncode for one in wrong] == [2, 2]
    assert "an object is needed" in wrong[0].stderr
    assert "is not JSON" in wrong[1].stderr
