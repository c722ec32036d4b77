"""Imports point one way: down the table, never up."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "crawler"
BASE = {"http", "errors", "data", "charset", "url", "_waiters", "serialization"}
#: What each part may import at run time, besides itself.
ALLOWED = {
    "_lazy_import": set(),
    "errors": set(),
    "charset": set(),
    "data": {"charset"},
    "url": {"errors"},
    "_waiters": set(),
    "serialization": {"data", "errors"},
    "http": {"data", "errors", "url"},
    "buffer": {"errors", "_waiters"},
    "module": BASE | {"_lazy_import"},
    "fetch": BASE,
    "frontier": BASE,
    "scheduler": BASE | {"buffer", "module", "frontier"},
    "middleware": BASE | {"frontier", "_lazy_import", "spider"},
    "settings": BASE | {"fetch", "frontier", "module", "scheduler"},
    "spider": BASE,
    "feed": BASE | {"_lazy_import"},
    "analysis": BASE | {"middleware", "module", "spider"},
    "child": BASE | {"analysis", "feed", "_lazy_import", "middleware", "module", "spider"},
    "job": BASE | {"feed", "frontier"},
    "jobs": BASE | {"frontier", "job"},
    "crawl": BASE
    | {
        "job",
        "analysis",
        "child",
        "buffer",
        "fetch",
        "middleware",
        "module",
        "scheduler",
        "settings",
        "spider",
        "feed",
    },
    "testing": BASE,
    "cli": BASE
    | {
        "__init__",
        "bench",
        "crawl",
        "feed",
        "frontier",
        "job",
        "jobs",
        "scheduler",
        "settings",
        "spider",
        "testing",
    },
    "bench": BASE
    | {
        "__init__",
        "buffer",
        "crawl",
        "feed",
        "fetch",
        "frontier",
        "job",
        "jobs",
        "module",
        "scheduler",
        "spider",
        "testing",
    },
    "__init__": set(),  # its names are imported when they are asked for
    "__main__": {"cli"},
}


def part_of(path):
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def is_type_checking(node):
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def imports(path):
    """The parts of the package that *path* imports when it runs."""
    nodes = [ast.parse(path.read_text())]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.ImportFrom):
            yield from imported_by(node, path)
        elif not is_type_checking(node):
            nodes.extend(ast.iter_child_nodes(node))


def imported_by(node, path):
    module = (node.module or "").split(".")
    if node.level == 0:
        if module[0] == "crawler":
            yield from module[1:2] or ["__init__"]
        return
    above = len(path.relative_to(PACKAGE).parts) - node.level
    if above > 0:
        yield part_of(path)
    elif module[0]:
        yield module[0]
    else:
        known = {alias.name for alias in node.names}
        yield from known & ALLOWED.keys() or {"__init__"}


@pytest.mark.parametrize(
    "path", sorted(PACKAGE.rglob("*.py")), ids=lambda p: str(p.relative_to(PACKAGE))
)
def test_imports_point_down(path):
    part = part_of(path)

    assert set(imports(path)) - {part} <= ALLOWED[part]
