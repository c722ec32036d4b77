"""The builder `venv`: an environment for one version of a project."""

from __future__ import annotations

import hashlib
import json
import sys
import sysconfig
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from .limited_process import Failed, run_limited

#: Seconds to build, and to check.
_BUILD, _CHECK = 900.0, 60.0
#: The number of spiders that are checked.
_MOST_SPIDERS = 100
_LISTED = "spiders.jsonl"


class Built(NamedTuple):
    digest: str
    spiders: list[str]


def python_of(version: Path) -> Path:
    """Return the Python of a version that was built in the directory *version*."""
    return version / "env/bin/python"


def build(version: Path, log: Path) -> None:
    """Make the environment of the files in *version*/source; raise Failed with the reason."""
    source, environment = version / "source", version / "env"
    with TemporaryDirectory() as home:
        limits = {"cwd": source, "home": Path(home), "seconds": _BUILD, "log": log}
        make = ["-m", "venv", "--without-pip", "--clear", str(environment)]
        run_limited([sys.executable, *make], **limits)  # type: ignore[arg-type]
        _share_packages(environment)
        if wanted := _wanted(source):
            pip = ["-m", "pip", "--python", str(python_of(version)), "install", "--no-input"]
            run_limited([sys.executable, *pip, *wanted], **limits)  # type: ignore[arg-type]


def check(version: Path, log: Path) -> Built:
    """Import each spider in the new environment; raise Failed if there is none, or one fails."""
    source, python = version / "source", str(python_of(version))
    listed = version / _LISTED
    listed.unlink(missing_ok=True)
    with TemporaryDirectory() as home:
        limits = {"cwd": source, "home": Path(home), "seconds": _CHECK}
        run_limited([python, "-m", "crawler", "list", "--json"], log=listed, **limits)  # type: ignore[arg-type]
        lines = [line for line in listed.read_text().splitlines() if line.startswith("{")]
        spiders = [json.loads(line)["spider"] for line in lines][:_MOST_SPIDERS]
        if not spiders:
            raise Failed("there is no spider in its files")
        for spider in spiders:
            command = [python, "-m", "crawler", "components", spider]
            run_limited(command, log=log, **limits)  # type: ignore[arg-type]
    return Built(digest_of(source), spiders)


def digest_of(source: Path) -> str:
    """Return a hash of the names and bytes of all files."""
    total = hashlib.sha256()
    for path in sorted(path for path in source.rglob("*") if path.is_file()):
        name = str(path.relative_to(source)).encode()
        total.update(b"%d %s %d " % (len(name), name, path.stat().st_size))
        with path.open("rb") as file:
            total.update(hashlib.file_digest(file, "sha256").digest())
    return total.hexdigest()


def _wanted(source: Path) -> list[str]:
    """Return what pip installs: the requirements of the project, and the project if it is a package."""
    found: list[str] = []
    for name in ("requirements.lock", "requirements.txt"):
        if (source / name).is_file() and not found:
            found += ["-r", name]
    if (source / "pyproject.toml").is_file() or (source / "setup.py").is_file():
        found.append(".")
    return found


def _share_packages(environment: Path) -> None:
    """Let the environment import the crawler and its packages; its own come first."""
    [packages] = environment.glob("lib/python*/site-packages")
    line = f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n"
    (packages / "portal.pth").write_text(line)
