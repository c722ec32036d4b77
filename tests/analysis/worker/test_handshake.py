import sys
from pathlib import Path

import pytest

from crawler import crawl

from ..conftest import FREE, Ids, program, run


def test_a_spider_that_cannot_be_copied_is_refused_with_the_remedy(site):
    spider = Ids(start_urls=[site.url()], hook=lambda: 1)

    with pytest.raises(ValueError, match=r"cannot be copied.*open\(\)"):
        crawl(spider, analyzers=1, **FREE)


def test_a_program_without_monkey_patching_can_define_its_spider(site, tmp_path):
    path = tmp_path / "own program.py"
    path.write_text(program(site))

    ran = run(path)

    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.splitlines()[-1] == "items 1 True"


def test_a_program_run_as_a_module_can_define_its_spider(site, tmp_path):
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "__init__.py").touch()
    (tmp_path / "pack" / "names.py").write_text("NAME = 'own'")
    text = program(site).replace("import os", "from .names import NAME\nimport os", 1)
    (tmp_path / "pack" / "own.py").write_text(text)

    ran = run("-m", "pack.own", cwd=tmp_path)

    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.splitlines()[-1] == "items 1 True"


def test_a_program_can_add_middlewares_to_an_imported_spider(site, tmp_path):
    (tmp_path / "spiders.py").write_text(
        "from crawler import Spider\nclass Other(Spider):\n    def parse(self, page):\n"
        "        yield {'url': page.url}\n"
    )
    (tmp_path / "program.py").write_text(
        "from crawler import crawl\n"
        "from crawler.middleware.spider.contract import SpiderMiddleware\n"
        "from spiders import Other\n"
        "class Mark(SpiderMiddleware):\n"
        "    def process_item(self, item, response, spider):\n"
        "        return item | {'marked': True}\n"
        'if __name__ == "__main__":\n'
        f"    spider = Other(start_urls=[{site.url()!r}])\n"
        "    options = dict(allow_private=True, delay=0, robots=False)\n"
        "    print(crawl(spider, middlewares=[Mark()], analyzers=1, **options).items)\n"
    )

    ran = run(tmp_path / "program.py")

    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.strip() == str([{"url": site.url(), "marked": True}])


def test_a_program_that_crawls_when_it_is_imported_is_refused_with_the_remedy(site, tmp_path):
    path = tmp_path / "own.py"
    path.write_text(program(site, guard="if True:"))

    ran = run(path)

    assert ran.returncode == 1
    assert '`if __name__ == "__main__":`' in ran.stderr
    assert site.requests == []


def test_a_spider_that_is_not_in_a_file_is_refused(site):
    ran = run("-", input=program(site))

    assert ran.returncode == 1
    assert "was not read from a file" in ran.stderr


def test_the_file_of_a_spider_can_have_the_name_of_a_standard_module(site, tmp_path):
    own = f"Spider):\n    settings = {FREE}\n    start_urls = [{site.url()!r}]"
    text = program(site, guard="if False:").replace("Spider):", own)
    (tmp_path / "calendar.py").write_text(text)
    command = Path(sys.executable).with_name("crawler")

    ran = run(command, "run", "calendar.py", "--analyzers", 1, cwd=tmp_path)

    assert ran.returncode == 0, ran.stderr
    assert '{"pid": ' in ran.stdout
