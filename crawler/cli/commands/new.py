"""``crawler new``: a first spider, or a directory for several."""

from __future__ import annotations

import json
import keyword
from pathlib import Path

import click

from ..options import verbose_option

_SPIDER = '''"""Run it: crawler run {file} -O {name}.jsonl"""

from crawler import Spider


class {title}(Spider):
    start_urls = [{url}]
    max_depth = 1

    def parse(self, page):
        yield {{"url": page.url, "title": page.title}}
        yield from page.links()
'''
_SETTINGS = """# The settings of all spiders of this directory; `crawler settings` explains each.
delay = 0.5
pipelines = ["pipelines:clean"]
"""
_PIPELINES = '''"""What is done to each item, in the order of the setting pipelines."""


def clean(item):
    """Return *item* with all texts stripped; raise crawler.DropItem to drop an item."""
    return {name: value.strip() if isinstance(value, str) else value for name, value in item.items()}
'''


@click.group()
@verbose_option
def new() -> None:
    """Create the files of a spider, or of a project of several spiders.

    Example: crawler new spider quotes https://quotes.example/
    """


@new.command()
@click.argument("name")
@click.argument("url", default="https://example.org/")
def spider(name: str, url: str) -> None:
    """Create NAME.py with a spider that starts at URL.

    Example: crawler new spider quotes https://quotes.example/
    """
    path = Path(f"{_checked(name)}.py")
    _write({path: _spider_text(name, url, path)})
    click.echo(f"created {path}: crawler run {path} -O {name}.jsonl")


@new.command()
@click.argument("name")
@click.argument("url", default="https://example.org/")
def project(name: str, url: str) -> None:
    """Create the directory NAME with settings, a pipeline and a first spider.

    Example: crawler new project shop https://shop.example/
    """
    root = Path(_checked(name))
    file = Path(f"{name}.py")
    _write(
        {
            root / "crawler.toml": _SETTINGS,
            root / "pipelines.py": _PIPELINES,
            root / file: _spider_text(name, url, file),
        }
    )
    click.echo(f"created {root}: cd {root} && crawler run {file} -O {name}.jsonl")


def _checked(name: str) -> str:
    if not name.isidentifier() or keyword.iskeyword(name):
        raise click.UsageError(
            f"{name!r} cannot be the name of a Python module: use letters, digits and _"
        )
    return name


def _spider_text(name: str, url: str, file: Path) -> str:
    title = "".join(part.capitalize() for part in name.split("_"))
    url = url if "://" in url else f"https://{url}"
    return _SPIDER.format(file=file, name=name, title=title or "Pages", url=json.dumps(url))


def _write(files: dict[Path, str]) -> None:
    """Write all *files*; write none if one of them exists."""
    for path in files:
        if path.exists():
            raise click.UsageError(f"{path} exists: choose another name, or remove it first")
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
