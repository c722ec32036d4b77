"""The README does what it says."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_its_program_is_short_and_prints_what_is_printed_there(tmp_path):
    [program] = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    [output] = re.findall(r"```python\n.*?```\n\n```text\n(.*?)```", README, re.DOTALL)

    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=50, cwd=tmp_path
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
