"""The documentation page of the settings, docs/settings.md."""

from __future__ import annotations

from collections.abc import Iterator

from .explain import Described
from .settings import Settings
from .table import SECTIONS

_INTRODUCTION = """\
# Settings

A setting has the same name everywhere. These are the sources of a value; a later one overrides an earlier one:

1. the defaults below;
2. `crawler.toml` in the working directory, or `[tool.crawler]` in its `pyproject.toml`:
   `delay = 0.5`, and `backoff = 2` below `[politeness]`;
3. the spider: `settings = {"delay": 0.5}`;
4. the code that runs it: `crawl(spider, delay=0.5)`;
5. the environment: `CRAWLER_DELAY=0.5`, `CRAWLER_POLITENESS__BACKOFF=2`;
6. the command line: `-s delay=0.5 -s politeness.backoff=2`.

`crawler settings --explain` shows the source of each value.

As text, seconds may have a unit (`500ms`, `2m`, `1h`, `1d`), and bytes too (`500kB`, `10MB`,
`1GiB`). The entries of a list are separated by commas or blanks; a comma within brackets is part of
an entry. `none` means no limit, or an empty list.
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
