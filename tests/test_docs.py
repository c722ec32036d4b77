"""The documentation runs, and is up to date."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from crawler.settings import reference_markdown

DOCS = Path(__file__).parent.parent / "docs"
PAGES = sorted(DOCS.glob("*.md"))


def programs():
    for page in PAGES:
        for n, code in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)):
            yield pytest.param(code, id=f"{page.stem}-{n}")


@pytest.mark.parametrize("code", list(programs()))
def test_every_program_runs(code, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=50, cwd=tmp_path
    )

    assert done.returncode == 0, done.stderr


def test_the_settings_reference_is_generated_from_the_code():
    assert (DOCS / "settings.md").read_text() == reference_markdown(), (
        "run: python -c 'from crawler.settings import reference_markdown; "
        'print(reference_markdown(), end="")\' > docs/settings.md'
    )


@pytest.mark.parametrize("page", [*PAGES, DOCS.parent / "README.md"], ids=lambda page: page.stem)
def test_the_source_files_it_names_exist(page):
    for path in re.findall(r"`((?:crawler|tests|examples)/[\w/.]*)`", page.read_text()):
        assert (DOCS.parent / path).exists(), path


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_somewhere(page):
    for link in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
        assert "://" in link or (page.parent / link).exists(), link
