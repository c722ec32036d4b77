"""Imports point one way: down the tables, never up, whether types or code need them."""

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from crawler.frontier import FrontierContract, FrontierView

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "crawler"
BASE = {
    "_distribution",
    "_give_way",
    "_waiters",
    "_words",
    "charset",
    "credentials",
    "data",
    "errors",
    "html_tokens",
    "http",
    "request_content",
    "serialization",
    "url",
}
#: What each part may import, besides itself.
ALLOWED = {
    "_distribution": set(),
    "_give_way": set(),
    "_lazy_import": set(),
    "_waiters": set(),
    "_words": set(),
    "charset": {"html_tokens"},
    "credentials": set(),
    "data": {"charset", "credentials", "request_content"},
    "errors": {"credentials", "data"},
    "html_tokens": set(),
    "items": set(),
    "request_content": set(),
    "url": {"errors"},
    "serialization": {"data", "errors"},
    "http": {"data", "errors", "url"},
    "buffer": {"_waiters", "errors"},
    "module": BASE | {"_lazy_import"},
    "fetch": BASE,
    "frontier": BASE,
    "spider": BASE,
    "feed": BASE | {"_lazy_import"},
    "scheduler": BASE | {"buffer", "frontier", "module"},
    "middleware": BASE | {"_lazy_import", "frontier", "spider"},
    "settings": BASE | {"fetch", "frontier", "module", "scheduler"},
    "analysis": BASE | {"feed", "middleware", "module", "spider"},
    "job": BASE | {"feed", "frontier", "module"},
    "report": BASE | {"buffer", "frontier", "module", "scheduler"},
    "result": BASE | {"buffer", "middleware", "scheduler", "spider"},
    "compose": BASE
    | {"analysis", "buffer", "fetch", "job", "middleware", "module", "result"}
    | {"scheduler", "settings", "spider"},
    "testing": {"data"},
    "bench": BASE
    | {"__init__", "buffer", "compose", "feed", "fetch", "frontier", "job", "module"}
    | {"result", "spider", "testing"},
    "cli": BASE
    | {"__init__", "bench", "compose", "feed", "frontier", "job", "module", "report"}
    | {"result", "scheduler", "settings", "spider", "testing"},
    "__main__": {"cli"},
    # Its names are imported when they are asked for.
    "__init__": {
        "_distribution",
        "_lazy_import",
        "buffer",
        "compose",
        "data",
        "errors",
        "fetch",
        "frontier",
    }
    | {"job", "module", "result", "scheduler", "spider"},
}
#: The files and folders of a package in layers: each may import its own layer and those before it.
#: A star stands for all that is not named; a package's own __init__ is above all of them.
LAYERS = {
    "fetch": [{"*"}, {"curl"}],
    "feed": [{"*"}, {"warc"}, {"formats"}],
    "module": [{"*"}, {"remote"}],
    "middleware": [{"download"}, {"spider"}],
    "frontier": [
        {"budget", "ledger", "outcome", "retries"},
        {"admission"},
        {"hosts"},
        {"contract"},
        {"durable"},
        {"*"},
    ],
    "analysis": [{"spider_analyzer"}, {"worker"}, {"processes"}],
    "bench": [{"measuring"}, {"sites"}, {"contenders"}, {"*"}],
    "cli": [{"*"}, {"commands"}],
}


def module_of(path):
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


MODULES = {module_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def imports(module):
    """Yield the modules of the package that *module* imports, for its types too."""
    path = MODULES[module]
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1]
            start = ".".join(above) if node.level else ""
            name = ".".join(part for part in (start, node.module) if part)
            for alias in node.names:
                found = f"{name}.{alias.name}"
                yield found if found in MODULES else name
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


GRAPH = {
    module: {found for found in imports(module) if found in MODULES} - {module}
    for module in MODULES
}


def part_of(module):
    return (module.split(".")[1:2] or ["__init__"])[0]


def layer_of(module, package):
    """Return the number of the layer that *module* is in; its package's own is the last."""
    layers = LAYERS[package]
    name = (module.split(".")[2:3] or [""])[0]
    if not name:
        return len(layers)
    named = (number for number, names in enumerate(layers) if name in names)
    return next(named, next((n for n, names in enumerate(layers) if "*" in names), None))


@pytest.mark.parametrize("module", MODULES)
def test_imports_point_down(module):
    part = part_of(module)

    assert {part_of(found) for found in GRAPH[module]} - {part} <= ALLOWED[part]


@pytest.mark.parametrize(
    "module", [module for module in MODULES if part_of(module) in LAYERS and "." in module]
)
def test_imports_within_a_package_point_down(module):
    package = part_of(module)
    own = layer_of(module, package)

    above = {
        found
        for found in GRAPH[module]
        if part_of(found) == package and layer_of(found, package) > own
    }

    assert not above


def test_every_package_with_folders_has_layers():
    folders = {path.parent.parent for path in PACKAGE.rglob("*/__init__.py")} - {PACKAGE.parent}
    with_folders = {folder.relative_to(PACKAGE).parts[0] for folder in folders - {PACKAGE}}

    assert with_folders == set(LAYERS)


def test_no_modules_import_each_other():
    TopologicalSorter(GRAPH).prepare()  # raises CycleError, which names the modules


# -- the frontier's contract ---------------------------------------------------------------------

CONTRACT = {name for name in vars(FrontierContract) if not name.startswith("_")}
VIEW = {name for name in vars(FrontierView) if not name.startswith("_")}
#: Who may use a frontier by its contract only.
OUTSIDE = [
    *(PACKAGE / "scheduler").rglob("*.py"),
    *(PACKAGE / "job").rglob("*.py"),
    PACKAGE / "compose.py",
]


def last_name(node):
    """Return what an expression is called: the name, the attribute, or the function called."""
    if isinstance(node, ast.Call):
        node = node.func
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def uses(path, owner):
    """Yield the attributes that *path* uses of what is called *owner*."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Attribute) and last_name(node.value).lstrip("_") == owner:
            yield node.attr


def test_the_contract_is_used_and_nothing_beside_it():
    used = {name for path in OUTSIDE for name in uses(path, "frontier")}
    seen = {name for path in OUTSIDE for name in uses(path, "view")}

    assert used - CONTRACT == set()
    assert seen - VIEW == set()
    # If these were empty, the test would look for the wrong names.
    assert {"admit", "admit_many", "take", "fetched", "settle", "put_back", "join"} <= used
    assert {"counts", "waiting_for"} <= seen


@pytest.mark.parametrize("path", OUTSIDE, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_only_the_composition_names_the_class_of_a_frontier(path):
    names = {
        node.id for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Name)
    }

    assert "Frontier" not in names or path.name in {"args.py", "scheduler.py"}


# -- tests ---------------------------------------------------------------------------------------

#: Test files that are about several source files, or about what no source file is.
CROSS_CUTTING = {
    "bench": {"bench", "endings"},
    "cli": {"main", "terminal", "version"},
    "cli/commands": {"bench", "fetch_and_links", "replay_diff"},
    "faults": {"*"},
    "feed": {"contract"},
    "fetch": {"contract", "faults", "http2", "proxy", "tls"},
    "frontier": {"lessons", "scale"},
    "fuzz": {"fuzz", "seeds"},
    "job": {
        "damage",
        "formats",
        "full_disk",
        "kill",
        "processes",
        "resume",
        "retry_failed",
        "scale",
    },
    "middleware/download": {"secrets_across_origins"},
    "middleware/spider": {"chain_without_middlewares", "sep_018_example", "sep_018_pitfalls"},
    "module": {"links_here_and_remote"},
    "scheduler": {"fetch", "invariants"},
    "spider": {"links_fast_paths", "on_error", "scrapy_tutorial"},
    ".": {"architecture", "docs", "examples", "heap", "plain_data", "public_api", "readme"},
}
TESTS = Path(__file__).parent


@pytest.mark.parametrize(
    "path", sorted(TESTS.rglob("test_*.py")), ids=lambda path: str(path.relative_to(TESTS))
)
def test_a_test_file_is_called_after_the_file_it_tests(path):
    folder, name = path.relative_to(TESTS).parent, path.stem.removeprefix("test_")
    allowed = CROSS_CUTTING.get(str(folder), set())

    tested = [PACKAGE / folder / f"{prefix}{name}.py" for prefix in ("", "_")]

    assert any(file.exists() for file in tested) or name in allowed or "*" in allowed
