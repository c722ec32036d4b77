"""Only the pages need the extra: nothing else imports Flask, Jinja2 or prometheus_client."""

import ast
import subprocess
import sys
from pathlib import Path

import crawler

PACKAGE = Path(crawler.__file__).parent
EXTRA = {
    "cryptography",
    "flask",
    "jinja2",
    "markupsafe",
    "prometheus_client",
    "pydantic",
    "werkzeug",
}


def imported(path):
    text = path.read_text()
    # To parse all files takes a second; few name one of these packages at all.
    if not any(name in text for name in EXTRA):
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield (node.module or "").partition(".")[0]


def test_no_file_of_another_package_imports_the_extra():
    users = {path for path in PACKAGE.rglob("*.py") if EXTRA & set(imported(path))}

    assert {path.relative_to(PACKAGE).parts[0] for path in users} == {"portal"}


def test_a_crawl_imports_nothing_of_it():
    code = (
        "import sys, crawler.cli.crawl_command, crawler.cli.commands.report\n"
        f"print(sorted({EXTRA!r} & set(sys.modules)), 'crawler.portal' in sys.modules)"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)

    assert done.stdout.strip() == "[] False", done.stderr
