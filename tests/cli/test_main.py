"""The parts of every command: imports, errors, exit codes and the log."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

from crawler.cli import COMMANDS, cli

from .conftest import crawler


@pytest.mark.parametrize("name", COMMANDS)
def test_the_summary_line_of_a_command_is_the_first_of_its_own_help(name):
    command = cli.get_command(click.Context(cli), name)

    assert command.get_short_help_str(limit=200).startswith(COMMANDS[name].rstrip("."))


def commands(command, *path):
    """Yield every command that --help shows, and the words before its options."""
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            if not (found := command.get_command(context, name)).hidden:
                yield from commands(found, *path, name)


def test_the_help_of_every_command_has_an_example_that_it_takes():
    for path, command in commands(cli):
        shown = f"crawler {' '.join(path)} --help"
        examples = re.findall(r"^ *Example: crawler (.+)$", command.help, re.MULTILINE)
        assert len(examples) == 1, f"{shown} must have one example"

        words = shlex.split(examples[0])
        assert tuple(words[: len(path)]) == path, f"{shown} has an example of another command"
        command.make_parser(click.Context(command)).parse_args(words[len(path) :])


def test_the_exit_codes_of_the_documentation_are_those_of_help():
    page = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text()
    codes = re.findall(r"^ +(\d+) {2,}(.+)$", cli.epilog, re.MULTILINE)

    assert re.findall(r"^\| (\d+) \| (.+) \|$", page, re.MULTILINE) == codes


@pytest.mark.parametrize("args", [["--help"], ["--version"], ["version"]])
def test_help_and_version_import_nothing_that_crawls(args):
    code = (
        f"import sys; sys.argv[1:] = {args!r}\n"
        "from crawler.__main__ import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print([name for name in ('gevent', 'rich', 'pycurl', 'crawler.compose', 'ssl')"
        " if name in sys.modules])"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)

    assert done.stdout.splitlines()[-1] == "[]", done.stderr


COUNTED = """
import runpy, sys
from importlib import metadata
scan, sys.scans = metadata.entry_points, 0
def counted(**group):
    sys.scans += 1
    return scan(**group)
metadata.entry_points = counted
sys.argv[1:] = ["components", "spider.py"]
runpy.run_module("crawler", run_name="__main__")
"""


def test_the_standard_library_is_patched_by_one_scan_before_a_spider_is_imported(tmp_path):
    """gevent would read the metadata of all installed packages at each step."""
    (tmp_path / "spider.py").write_text(
        "import socket, ssl, threading, time, sys\n"
        "from importlib import metadata\n"
        "print(socket.socket.__module__, time.sleep.__module__)\n"
        "print(sys.scans, metadata.entry_points.__name__)\n"
        "from crawler import Spider, crawl\n"
        "print(callable(crawl))\n"
        "class Mine(Spider): pass\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", COUNTED],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )

    assert done.stderr.splitlines() == ["gevent._socket3 gevent.hub", "1 counted", "True"]


SPIDERS = {
    "code.py": "import crawler\nnonsense\n",
    "syntax.py": "def x(:\n",
    "library.py": "import json\n\njson.loads('junk')\n",
    "missing.py": "import nowhere\n",
    "below.py": "import code_below\n",
    "code_below.py": "\n1 / 0\n",
    "ported.py": "from crawler import Spider\nclass Ported(Spider): custom_settings = {'A': 1}\n",
    "value.py": "raise ValueError('one\\nline')",
    "os.py": "open('/nowhere/at/all')",
    "error.py": "from crawler import StateError\nraise StateError('no \\x1b[31mway')",
}


@pytest.mark.parametrize(
    ("name", "code", "line"),
    [
        ("code.py", 6, "NameError: name 'nonsense' is not defined (code.py, line 2; -v shows"),
        ("syntax.py", 6, "SyntaxError: invalid syntax (syntax.py, line 1; -v shows"),
        ("value.py", 2, r"one\nline (value.py, line 1; -v shows"),
        ("os.py", 6, "[Errno 2] No such file or directory: '/nowhere/at/all' (os.py, line 1; -v"),
        ("error.py", 6, r"no \x1b[31mway (error.py, line 2; -v shows"),
        ("library.py", 2, "Expecting value: line 1 column 1 (char 0) (library.py, line 3; -v"),
        ("missing.py", 6, "ModuleNotFoundError: No module named 'nowhere' (missing.py, line 1; -v"),
        ("below.py", 6, "ZeroDivisionError: division by zero (code_below.py, line 2; -v shows"),
        (
            "ported.py",
            2,
            "Ported has custom_settings, which nothing here reads: call them settings",
        ),
    ],
)
def test_an_error_is_one_line_and_a_traceback_with_v(tmp_path, name, code, line):
    for file in (name, "code_below.py"):
        (tmp_path / file).write_text(SPIDERS[file])

    short = crawler("run", name, cwd=tmp_path)
    before = crawler("-v", "run", name, cwd=tmp_path)
    after = crawler("run", name, "-v", cwd=tmp_path)

    assert short.returncode == before.returncode == after.returncode == code
    assert short.stderr.startswith(f"crawler: {line}")
    assert short.stderr.count("\n") == 1
    for trace in (before.stderr, after.stderr):
        assert trace.startswith("Traceback")
        assert trace.splitlines()[-1].startswith(f"crawler: {line}")
        assert "\x1b" not in trace


def test_a_place_that_cannot_be_written_to_is_one_line(tmp_path):
    (tmp_path / "file").write_text("")

    done = crawler("demo", "--pages", "1", "-o", "file/pages.jsonl", cwd=tmp_path)

    assert done.returncode == 6
    assert done.stderr.count("\n") == 1
    assert "file" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_log_record_is_one_line_unless_verbose(tmp_path):
    (tmp_path / "loud.py").write_text(
        """
import logging
from crawler import Spider
try:
    {}["title\\x1b[2J"]
except KeyError:
    logging.getLogger("loud").exception("no\\ntitle")
class Loud(Spider): pass
"""
    )

    short = crawler("components", "loud.py", cwd=tmp_path).stderr
    long = crawler("components", "loud.py", "-v", cwd=tmp_path).stderr

    assert short.endswith("ERROR loud: no\\ntitle: KeyError: 'title\\x1b[2J'\n")
    assert short.count("\n") == 1
    assert "Traceback" in long
    assert "\x1b" not in long
