"""The settings as a page of the documentation."""

from __future__ import annotations

from collections.abc import Iterator

from .explain import Described
from .settings import Settings
from .table import SECTIONS

_INTRODUCTION = """\
# Settings

The same name works everywhere. From the weakest to the strongest, settings come from:

1. the defaults below;
2. `crawler.toml` in the working directory, or `[tool.crawler]` in its `pyproject.toml`:
   `delay = 0.5`, and `backoff = 2` below `[politeness]`;
3. the spider: `settings = {"delay": 0.5}`;
4. the code that runs it: `crawl(spider, delay=0.5)`;
5. the environment: `CRAWLER_DELAY=0.5`, `CRAWLER_POLITENESS__BACKOFF=2`;
6. the command line: `-s delay=0.5 -s politeness.backoff=2`.

`crawler settings --explain` tells where each value came from.

As text, seconds may have a unit (`500ms`, `2m`, `1h`, `1d`) and so may bytes (`500kB`, `10MB`,
`1GiB`); a list has commas or blanks between its entries, but a comma within brackets is part of
an entry; and `none` is no limit, or an empty list.
"""


def reference_markdown() -> str:
    described = {entry.name: entry for entry in Settings.describe()}
    sections = (
        "\n".join(_section(title, [described[setting.name] for setting in settings]))
        for title, settings in SECTIONS.items()
    )
    return "\n".join([_INTRODUCTION, *sections])


def _section(title: str, entries: list[Described]) -> Iterator[str]:
    yield f"## {title}\n"
    yield "| setting | type | default | |"
    yield "|---|---|---|---|"
    for entry in entries:
        default = entry.type.write(entry.default)
        yield f"| `{entry.name}` | {entry.type} | `{default}` | {entry.help} |"
    yield ""
