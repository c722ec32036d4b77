"""How a command loads the user's spider."""

from __future__ import annotations

import importlib.util
import inspect
import re
import sys
from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import click

import crawler

from .options import pairs
from .standard_streams import prints_to_stderr

if TYPE_CHECKING:
    from ..spider import Spider


#: What Python says of a name that it does not find in one of our modules.
_MISSING_NAME = re.compile(r"cannot import name '(\w+)' from '(crawler[\w.]*)'")
_PORT = (
    "to port a spider, write `import crawler as scrapy`; docs/coming-from-scrapy.md has the rest"
)
_NO_SPIDER = f"none, and a spider is a subclass of crawler.Spider ({_PORT})"


def load_spider(place: str, arguments: Iterable[str] = ()) -> Spider:
    """Return the spider in a file; FILE.py:Name selects one of several."""
    name, _, wanted = place.partition(":")
    path = Path(name)
    if not path.is_file():
        raise click.UsageError(f"no such file: {place!r}; {_instead_of(path)}")
    with prints_to_stderr():
        kinds = _spiders_in(path)
    chosen = [kind for kind in kinds if wanted in ("", kind.__name__)]
    if len(chosen) != 1:
        found = " or ".join(f"{name}:{kind.__name__}" for kind in kinds) or _NO_SPIDER
        raise click.UsageError(f"{place} must name one Spider; found: {found}")
    with prints_to_stderr():
        return _made(chosen[0], pairs(arguments, "-a"))


def _instead_of(missing: Path) -> str:
    if missing.is_dir():
        return f"it is a directory, and `crawler list {missing}` prints the spiders in its files"
    with_ending = missing.with_name(f"{missing.name}.py")
    if with_ending.is_file():
        return f"did you mean {str(with_ending)!r}?"
    return "SPIDER.py is a path, and `crawler list` prints those of the spiders here"


def _made(kind: type[Spider], given: dict[str, str]) -> Spider:
    """Return an instance of *kind*; if its __init__ needs other arguments, the error says how."""
    try:
        inspect.signature(kind).bind(**given)
    except TypeError as error:
        raise click.UsageError(f"{kind.__name__}: {error}; -a NAME=VALUE gives one") from None
    return kind(**given)


def program_of(spider: Spider) -> str:
    """Return the file and the class of *spider*, as `crawler run` takes them."""
    kind = type(spider)
    return f"{kind.__module__}.py:{kind.__qualname__}"


def job_name(spider: str, arguments: Sequence[str]) -> str:
    """Return a name that differs for other *arguments*, and does not show them: one may be secret."""
    if not arguments:
        return spider
    return f"{spider}-{sha256(repr(sorted(arguments)).encode()).hexdigest()[:8]}"


def _remedy(error: ImportError) -> str:
    """Return what to do about an import of Scrapy, or of one of its names from a module of ours; or ""."""
    if isinstance(error, ModuleNotFoundError) and error.name == "scrapy":
        return "imports scrapy, which is not installed"
    if isinstance(error, ModuleNotFoundError) and (error.name or "").startswith("crawler."):
        return f"imports {error.name}, which does not exist"
    missing = _MISSING_NAME.match(error.msg)
    if missing is None:
        return ""
    name, place = missing.groups()
    try:
        getattr(crawler, name)
    except AttributeError as unknown:
        _, known, remedy = str(unknown).partition(": write ")
        return f"imports {name}: write {remedy}" if known else ""
    return f"imports {name} from {place}: write from crawler import {name}"


def _spiders_in(path: Path) -> list[type[Spider]]:
    from ..spider import Spider

    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise click.UsageError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    sys.path.insert(0, str(path.parent))
    try:
        spec.loader.exec_module(module)
    except ImportError as error:
        if not (hint := _remedy(error)):
            raise
        raise click.UsageError(f"{path} {hint}; {_PORT}") from error
    return [
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Spider) and value.__module__ == path.stem
    ]
