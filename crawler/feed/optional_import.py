"""Packages that only some feeds need, and only their users must install."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from .output import FeedError


def load(module: str, extra: str) -> Any:
    """Import *module*; if it is missing, raise an error that names the extra to install."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise FeedError(
            f"this needs {package}: pip install 'crawler[{extra}]', or in a clone of this "
            f"project pip install -e '.[{extra}]'"
        ) from error
