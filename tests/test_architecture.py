"""Imports point one way: down the tables, never up, whether types or code need them."""

import ast
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

from crawler.frontier.contract import (
    FrontierContract,
    FrontierView,
    ShardContract,
    ShardView,
)

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "crawler"
BASE = {
    "_distribution",
    "_give_way",
    "_waiters",
    "_words",
    "body_file",
    "charset",
    "credentials",
    "current_request",
    "data",
    "errors",
    "headers",
    "html_tokens",
    "http",
    "item_fields",
    "read_only_dict",
    "request_content",
    "request_fields",
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
    "body_file": {"data", "errors", "http"},
    "charset": {"html_tokens"},
    "credentials": set(),
    "current_request": {"data"},
    "data": {"charset", "credentials", "headers", "item_fields"}
    | {"read_only_dict", "request_content", "request_fields"},
    "errors": {"credentials", "data"},
    "headers": set(),
    "html_tokens": set(),
    "item_fields": set(),
    "items": set(),
    "read_only_dict": set(),
    "request_content": set(),
    "request_fields": {"credentials", "headers", "read_only_dict", "request_content"},
    "url": {"errors"},
    "serialization": {"data", "errors", "headers", "read_only_dict"},
    "http": {"data", "errors", "headers", "request_fields", "url"},
    "buffer": {"_waiters", "errors"},
    "module": BASE | {"_lazy_import"},
    "fetch": BASE,
    "frontier": BASE,
    "spider": BASE,
    "feed": BASE | {"_lazy_import"},
    "scheduler": BASE | {"buffer", "frontier", "module"},
    "middleware": BASE | {"_lazy_import", "frontier", "spider"},
    "media": BASE | {"frontier", "spider"},
    "settings": BASE | {"fetch", "frontier", "module", "scheduler"},
    "analysis": BASE | {"feed", "middleware", "module", "spider"},
    "job": BASE | {"feed", "frontier", "module"},
    "report": BASE | {"buffer", "frontier", "job", "module", "scheduler"},
    "result": BASE | {"buffer", "middleware", "scheduler", "spider"},
    "compose": BASE
    | {"analysis", "buffer", "fetch", "job", "middleware", "module", "result"}
    | {"scheduler", "settings", "spider"},
    "cluster": BASE
    | {"_lazy_import"}
    | {"analysis", "compose", "feed", "frontier", "job", "media", "middleware", "module"}
    | {"result", "scheduler", "settings", "spider"},
    "portal": BASE
    | {"cluster", "feed", "fetch", "frontier", "job", "module", "report", "scheduler"}
    | {"settings", "spider"},
    "testing": {"data", "headers"},
    "bench": BASE
    | {"__init__", "buffer", "cluster", "compose", "feed", "fetch", "frontier", "job", "module"}
    | {"portal", "result", "spider", "testing"},
    "cli": BASE
    | {"__init__", "bench", "cluster", "compose", "feed", "frontier", "job", "module", "portal"}
    | {"report"}
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
        "headers",
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
    "portal": [{"*"}, {"store"}, {"projects"}, {"runs"}, {"site"}, {"portal_server"}],
}


def module_of(path):
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


MODULES = {module_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def statements(node):
    """Yield the statements in *node*. Expressions are most of a tree and hold no statement."""
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        for child in getattr(node, field, ()):
            yield child
            yield from statements(child)


def imports(module):
    """Yield the modules of the package that *module* imports, for its types too."""
    path = MODULES[module]
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in statements(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1]
            start = ".".join(above) if node.level else ""
            name = ".".join(part for part in (start, node.module) if part)
            for alias in node.names:
                found = f"{name}.{alias.name}"
                yield found if found in MODULES else name
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


@cache
def graph():
    """Return what each module imports. The first test that asks makes it, not the collection."""
    return {
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


def test_imports_point_down():
    upwards = {
        (module, found)
        for module in MODULES
        for found in graph()[module]
        if part_of(found) not in {part_of(module), *ALLOWED[part_of(module)]}
    }

    assert upwards == set()


def test_imports_within_a_package_point_down():
    upwards = {
        (module, found)
        for module in MODULES
        if (package := part_of(module)) in LAYERS
        for found in graph()[module]
        if part_of(found) == package and layer_of(found, package) > layer_of(module, package)
    }

    assert upwards == set()


def test_every_package_with_folders_has_layers():
    folders = {path.parent.parent for path in PACKAGE.rglob("*/__init__.py")} - {PACKAGE.parent}
    with_folders = {folder.relative_to(PACKAGE).parts[0] for folder in folders - {PACKAGE}}

    assert with_folders == set(LAYERS)


def test_no_modules_import_each_other():
    TopologicalSorter(graph()).prepare()  # raises CycleError, which names the modules


# -- sizes ---------------------------------------------------------------------------------------

#: Classes with more than 20 methods, and why.
LARGE_CLASSES = {
    "Scheduler": "the public facade: each method is one call of it, and a few lines",
    "Frontier": "all of the contract, and the steps of take() and fetched()",
    "ClusterFrontier": "all of the contract",
    "SqliteJournal": "all of the contract of a journal",
    "ClusterJournal": "all of the contract of a journal",
    "Member": "all of the contracts of a job and of its journal",
}
#: Functions with more than 40 lines, without their docstring, and why.
LONG_FUNCTIONS = {
    ("Request", "__init__"): "a table of fields",
    ("Host", "__init__"): "a table of fields",
    ("Frontier", "__init__"): "a table of parameters and parts",
}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def functions_of(node):
    return [found for found in node.body if isinstance(found, FUNCTIONS)]


def length(function):
    """Return the number of lines of *function*, without its docstring."""
    documented = ast.get_docstring(function) is not None
    text = function.body[0] if documented else None
    lines = text.end_lineno - text.lineno + 1 if text else 0
    return function.end_lineno - function.lineno + 1 - lines


def test_classes_and_functions_can_be_held_in_the_head():
    large, long = set(), set()
    for path in MODULES.values():
        tree = ast.parse(path.read_text())
        classes = [node for node in statements(tree) if isinstance(node, ast.ClassDef)]
        large |= {one.name for one in classes if len(functions_of(one)) > 20}
        long |= {
            (name, found.name)
            for name, owner in [("", tree), *((one.name, one) for one in classes)]
            for found in functions_of(owner)
            if length(found) > 40
        }

    assert large <= LARGE_CLASSES.keys()
    assert long <= LONG_FUNCTIONS.keys()


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


def test_a_shard_is_used_by_its_contract():
    files = [PACKAGE / "cluster" / f"{name}.py" for name in ("active_shard", "frontier", "view")]
    used = {name for path in files[:2] for name in uses(path, "frontier")}
    seen = {name for path in files for name in [*uses(path, "view"), *uses(path, "_views")]}
    shard = {name for name in vars(ShardContract) if not name.startswith("_")}
    figures = {name for name in vars(ShardView) if not name.startswith("_")}

    assert used - CONTRACT - shard == set()
    assert seen - VIEW - figures <= {"keep"}  # ClusterView's own
    assert shard - {"view"} <= used


def test_only_the_composition_names_the_class_of_a_frontier():
    naming = {
        path.name
        for path in OUTSIDE
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Name) and node.id == "Frontier"
    }

    assert naming <= {"args.py", "scheduler.py"}


# -- tests ---------------------------------------------------------------------------------------

#: Test files that are about several source files, or about what no source file is.
CROSS_CUTTING = {
    "bench": {"bench", "endings"},
    "cluster": {"model", "politeness"},
    "cli": {"main", "terminal", "version"},
    "cli/commands": {"bench", "fetch_and_links", "replay_diff"},
    "faults": {"*"},
    "feed": {"contract"},
    "fetch": {"contract", "faults", "http2", "proxy", "tls"},
    "frontier": {"lessons", "moving_hops", "scale"},
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
    "media": {"resume"},
    "middleware/download": {"secrets_across_origins"},
    "middleware/spider": {"chain_without_middlewares", "sep_018_example", "sep_018_pitfalls"},
    "module": {"links_here_and_remote"},
    "portal": {"browser", "imports"},
    "portal/runs": {"redis_away"},
    "portal/site": {"browser", "security"},
    "real_pages": {"documentation"},
    "scheduler": {"fetch", "invariants"},
    "scrapy_pairs": {"pairs"},
    "spider": {"links_fast_paths", "on_error", "scrapy_tutorial"},
    ".": {"architecture", "docs", "examples", "heap", "plain_data", "public_api", "readme"},
}
TESTS = Path(__file__).parent


def is_stray(path):
    """Return whether the test file *path* is neither called after a file nor cross-cutting."""
    folder, name = path.relative_to(TESTS).parent, path.stem.removeprefix("test_")
    allowed = CROSS_CUTTING.get(str(folder), set())
    tested = [PACKAGE / folder / f"{prefix}{name}.py" for prefix in ("", "_")]
    return not any(file.exists() for file in tested) and not {name, "*"} & allowed


def test_a_test_file_is_called_after_the_file_it_tests():
    assert [path for path in TESTS.rglob("test_*.py") if is_stray(path)] == []


#: Source files without a test file of their own: tests of others run all that they do.
TESTED_BY_OTHERS = {
    "_lazy_import",
    "current_request",
    "bench/contenders/bare_loop",
    "bench/contenders/cluster_crawl",
    "bench/contenders/crawlee_crawl",
    "bench/contenders/ours",
    "bench/contenders/sampled_crawl",
    "bench/contenders/scrapy_crawl",
    "bench/contenders/wget2_crawl",
    "bench/kill/cluster_faults",
    "bench/kill/faults",
    "bench/kill/killed_crawl",
    "bench/kill/moments",
    "bench/kill/output_check",
    "bench/kill/tree_site",
    "bench/parts/cards_spider",
    "bench/parts/links",
    "bench/sites/own_server",
    "bench/sites/site",
    "bench/sites/web_markup",
    "cli/cluster_collect",
    "cli/cluster_crawl",
    "cli/cluster_processes",
    "cli/cluster_run",
    "cli/commands/bench/child",
    "cli/commands/bench/cluster",
    "cli/commands/bench/crawls",
    "cli/commands/bench/history",
    "cli/commands/bench/hostile",
    "cli/commands/bench/kill",
    "cli/commands/bench/options",
    "cli/commands/bench/parts",
    "cli/commands/bench/portal",
    "cli/commands/bench/soak",
    "cli/commands/cluster/collect",
    "cli/commands/cluster/control",
    "cli/commands/cluster/join",
    "cli/commands/cluster/options",
    "cli/commands/cluster/report",
    "cli/commands/cluster/start",
    "cli/commands/cluster/urls",
    "cli/commands/cluster/why",
    "cli/crawl_command",
    "cli/interrupts",
    "cli/log",
    "cli/options",
    "cli/report",
    "cli/session",
    "cluster/active_shard",
    "cluster/batch",
    "cluster/blob",
    "cluster/loading",
    "cluster/collected",
    "cluster/frontier",
    "cluster/inboxes",
    "cluster/job_record",
    "cluster/journal",
    "cluster/keys",
    "cluster/renewals",
    "cluster/scheduler_figures",
    "cluster/scripts",
    "cluster/server",
    "cluster/view",
    "feed/batched_feed",
    "feed/optional_import",
    "feed/output",
    "feed/parquet_columns",
    "feed/warc/index",
    "feed/warc/reader",
    "frontier/accounts",
    "frontier/admission/admission",
    "frontier/durable/awaited",
    "frontier/durable/batch",
    "frontier/durable/journal",
    "frontier/durable/reopening",
    "frontier/durable/rows",
    "frontier/durable/schema",
    "frontier/durable/store",
    "frontier/frontier",
    "frontier/hosts/overflow",
    "frontier/outcome",
    "frontier/parts",
    "frontier/restore",
    "frontier/waiting",
    "job/contract",
    "middleware/download/contract",
    "middleware/spider/hooks",
    "module/remote/relayed_output",
    "portal/figures",
    "portal/live_page",
    "portal/loopback",
    "portal/live_run",
    "portal/portal_server",
    "portal/rendering",
    "portal/projects/project_editor",
    "portal/runs/live_client",
    "portal/runs/run_view",
    "portal/runs/supervisor",
    "portal/runs/task_editor",
    "portal/site/admin_api",
    "portal/site/answers",
    "portal/site/api_input",
    "portal/site/app",
    "portal/site/openapi",
    "portal/site/user_pages",
    "portal/site/visitor",
    "scheduler/memory_guard",
    "scheduler/page_log",
    "spider/link_elements",
    "testing/faults",
    "testing/scripted_reply",
}


def test_a_source_file_has_a_test_file_or_is_tested_by_others():
    alone = {
        str(path.relative_to(PACKAGE).with_suffix(""))
        for path in MODULES.values()
        if not path.stem.startswith("__")
        and not (
            TESTS / path.parent.relative_to(PACKAGE) / f"test_{path.stem.lstrip('_')}.py"
        ).exists()
    }

    assert alone <= TESTED_BY_OTHERS, "write its test file, or add its name above"
