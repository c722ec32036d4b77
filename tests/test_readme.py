"""The README does what it says."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

from crawler import Politeness

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_its_program_is_short_and_prints_what_is_printed_there(tmp_path):
    [program] = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    [output] = re.findall(r"```python\n.*?```\n\n```text\n(.*?)```", README, re.DOTALL)

    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, cwd=tmp_path
    )

    assert done.stdout == output, done.stderr
    assert len([line for line in program.splitlines() if line.strip()]) <= 15


def test_every_file_it_points_at_is_there():
    links = re.findall(r"\]\(([^)#]+)\)", README)

    assert links
    assert all((ROOT / link).exists() for link in links if "://" not in link)


def test_the_make_targets_it_names_exist():
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))

    assert set(re.findall(r"make ([a-z]+)", README)) <= targets


def test_its_figures_are_those_of_the_code():
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"]

    assert f"It needs only Python {needed.removeprefix('>=')} and `make`" in README
    assert Politeness().per_host == 2
    assert "Two requests in flight per host" in README
