"""The name under which this package is distributed, its version, and how its extras are installed."""

from __future__ import annotations

from pathlib import Path

#: Another project has the name of the package.
NAME = "gevent-crawler"
__version__ = "0.1.0"


def install_command(extra: str) -> str:
    """Return the command that installs *extra* into this checkout, or beside an installed package."""
    root = Path(__file__).absolute().parents[1]
    is_checkout = (root / "pyproject.toml").is_file()
    return f"pip install -e '{root}[{extra}]'" if is_checkout else f"pip install '{NAME}[{extra}]'"
