"""What the user's code prints goes to stderr: stdout has nothing but records, or JSON."""

import json

import pytest

from crawler.testing import LoopbackSite

from .conftest import crawler

SPIDER = """
from crawler import Spider
print("printed on import")

class Printing(Spider):
    def __init__(self, **given):
        super().__init__(start_urls=[{url!r}], **given)
        print("printed by __init__")

    def start(self):
        print("printed by start")
        yield from super().start()

    def open(self):
        print("printed by open")

    def parse(self, page):
        print("printed by parse")
        yield {{"url": page.url}}

    def close(self):
        print("printed by close")
"""
QUICK = ("-s", "delay=0", "-s", "robots=false")
RUN = ("run", "printing.py", *QUICK)


@pytest.fixture
def site(tmp_path):
    with LoopbackSite({"/": "<title>t</title>"}) as site:
        (tmp_path / "printing.py").write_text(SPIDER.format(url=site.url()))
        yield site


@pytest.mark.parametrize(
    "args",
    [
        RUN,
        (*RUN, "--analyzers", "1"),
        (*RUN, "--json", "-O", "out.jsonl"),
        ("components", "printing.py", "--pages", "1", "--json", *QUICK),
        ("parse", "SITE", "printing.py", "--json"),
    ],
    ids=" ".join,
)
def test_prints_do_not_get_among_the_output(site, tmp_path, args):
    args = [site.url() if word == "SITE" else word for word in args]

    done = crawler(*args, cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert "printed" not in done.stdout
    text = done.stdout if "-O" in args else f"[{','.join(done.stdout.splitlines())}]"
    assert json.loads(text)
    places = {"on import", "by parse"} if args[0] == "parse" else {"on import", "by close"}
    for place in places | {"by __init__", "by parse"}:
        assert f"printed {place}\n" in done.stderr


def test_prints_of_a_replay_do_not_get_among_its_items(site, tmp_path):
    assert crawler(*RUN, "--warc", "x.warc", "-O", "x.jsonl", cwd=tmp_path).returncode == 0

    done = crawler("replay", "x.warc", "printing.py", cwd=tmp_path)

    assert json.loads(done.stdout) == {"url": site.url()}
    assert "printed by parse\n" in done.stderr


def test_a_summary_as_json_does_not_get_among_the_records(site, tmp_path):
    done = crawler(*RUN, "--json", cwd=tmp_path)

    assert json.loads(done.stdout) == {"url": site.url()}
    assert '"urls": {' in done.stderr
