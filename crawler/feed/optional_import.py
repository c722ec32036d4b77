"""Packages that only some feeds need, and only their users must install."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from .._distribution import install_command
from .output import FeedError


def load(module: str, extra: str) -> Any:
    """Import *module*; if it is missing, raise an error that says how to install it."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise FeedError(f"this needs {package}: {install_command(extra)}") from error
