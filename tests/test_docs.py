"""The documentation runs, and is up to date."""

import dataclasses
import pkgutil
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

import crawler
import crawler.feed
import crawler.items
import crawler.media
import crawler.middleware
import crawler.spider
from crawler import Budget, Counts, DataArgs, ModuleArgs, Politeness, RequestArgs, Retries
from crawler.cli import COMMANDS, cli
from crawler.settings import Settings, reference_markdown
from crawler.settings.scrapy_names import SCRAPY_NAMES

DOCS = Path(__file__).parent.parent / "docs"
PAGES = sorted(DOCS.glob("*.md"))


def programs(page):
    found = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    return [code for code in found if not code.startswith("# tests/")]


#: Runs each file that it is given, with a namespace of its own.
RUN = "import runpy, sys\nfor path in sys.argv[1:]: runpy.run_path(path, run_name='__main__')"


@pytest.mark.parametrize("page", list(filter(programs, PAGES)), ids=lambda page: page.stem)
def test_every_program_runs(page, tmp_path):
    """One process runs all programs of a page: to start is most of what they do."""
    paths = [tmp_path / f"{page.stem}-{n}.py" for n, _ in enumerate(programs(page))]
    for path, code in zip(paths, programs(page), strict=True):
        path.write_text(code)

    done = subprocess.run(
        [sys.executable, "-c", RUN, *paths],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=tmp_path,
    )

    assert done.returncode == 0, done.stderr


def commands():
    for page in [*PAGES, DOCS.parent / "README.md"]:
        for line in re.findall(r"^\$ crawler (.+?)(?: +#.*)?$", page.read_text(), re.MULTILINE):
            yield pytest.param(line, id=f"{page.stem}: {line}")


@pytest.mark.parametrize("line", list(commands()))
def test_every_command_is_one_that_the_command_line_takes(line):
    command, words = cli, shlex.split(line)
    while isinstance(command, click.Group):
        command = command.get_command(click.Context(command), words.pop(0))

    options, _, _ = command.make_parser(click.Context(command)).parse_args(words)

    given = dict(pair.split("=", 1) for pair in options.get("assigned") or ())
    Settings.load(overrides=given)


@pytest.mark.parametrize("page", [*PAGES, DOCS.parent / "README.md"], ids=lambda page: page.stem)
def test_the_commands_that_it_names_exist(page):
    named = set(re.findall(r"`crawler ([a-z]+)", page.read_text()))

    assert named <= {*COMMANDS, "version"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_program_that_names_a_file_of_the_tests_is_that_file(page):
    for path, code in re.findall(
        r"```python\n# (tests/\S+)\n(.*?)```", page.read_text(), re.DOTALL
    ):
        assert code == (DOCS.parent / path).read_text()


def test_the_settings_reference_is_generated_from_the_code():
    assert (DOCS / "settings.md").read_text() == reference_markdown(), (
        "run: python -c 'from crawler.settings import reference_markdown; "
        'print(reference_markdown(), end="")\' > docs/settings.md'
    )


@pytest.mark.parametrize("page", [*PAGES, DOCS.parent / "README.md"], ids=lambda page: page.stem)
def test_the_source_files_it_names_exist(page):
    for path in re.findall(r"`((?:crawler|tests|examples)/[\w/.]*)`", page.read_text()):
        assert (DOCS.parent / path).exists(), path


def test_every_promise_of_security_names_its_tests():
    """The tests of faults are all named, too: what they show is promised."""
    text = (DOCS / "security.md").read_text()
    promises = [
        row for row in re.findall(r"^\| (.+) \|$", text, re.MULTILINE) if "promise" not in row
    ]
    faults = (DOCS.parent / "tests" / "faults").glob("test_*.py")

    assert len(promises) > 20
    assert [
        row
        for row in promises
        if not re.search(r"`tests/[\w/]+/test_\w+\.py`$|`tests/test_\w+\.py`$", row)
    ] == []
    assert [path.name for path in faults if f"`tests/faults/{path.name}`" not in text] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_somewhere(page):
    for link in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
        assert "://" in link or (page.parent / link).exists(), link


# -- the page of components ----------------------------------------------------------------------

COMPONENTS = (DOCS / "components.md").read_text()
_FIELD_ROW = re.compile(r"^\| `(\w+)` \| (.*?) \|", re.MULTILINE)


@pytest.mark.parametrize(
    "package",
    [crawler, crawler.feed, crawler.items, crawler.media, crawler.middleware, crawler.spider],
)
def test_every_public_class_is_on_the_page_of_components(package):
    public = getattr(package, "__all__", None) or ("Field", "Item", "ItemLoader")
    classes = {name for name in public if isinstance(getattr(package, name), type)}

    named = set(re.findall(r"(?:`|^### )(\w+)(?:`|$)", COMPONENTS, re.MULTILINE))

    assert classes
    assert classes - named == set(), "give each of them two lines in docs/components.md"


@pytest.mark.parametrize(
    ("title", "kind"),
    [(kind.__name__, kind) for kind in (RequestArgs, DataArgs, ModuleArgs, Politeness)]
    + [("Retries", Retries), ("Budget", Budget), ("Scores", Counts)],
)
def test_the_page_of_components_has_the_fields_of_arguments_and_their_defaults(title, kind):
    section = COMPONENTS.partition(f"\n### {title}\n")[2].partition("\n#")[0]
    fields = {field.name: field for field in dataclasses.fields(kind) if field.init}

    rows = dict(_FIELD_ROW.findall(section))

    assert rows.keys() == fields.keys()
    wrong = {
        name: (shown, repr(fields[name].default))
        for name, shown in rows.items()
        if shown.startswith("`")
        and shown.endswith("`")
        and not is_default(shown[1:-1], fields[name])
    }
    assert wrong == {}


def is_default(text, field):
    """Return whether *text* is the default of *field*; Politeness() stands for its defaults."""
    if text.endswith("()") and text != "()":
        return (
            field.default == type(field.default)() and text == f"{type(field.default).__name__}()"
        )
    return text == repr(field.default)


# -- the page for users of Scrapy ----------------------------------------------------------------

SCRAPY_PAGE = (DOCS / "coming-from-scrapy.md").read_text()


def test_every_pair_of_spiders_is_on_the_page():
    named = re.findall(r"\(\.\./tests/scrapy_pairs/(\w+/\w+)\.py\)", SCRAPY_PAGE)
    pairs = DOCS.parent / "tests" / "scrapy_pairs"

    assert sorted(named) == sorted(
        f"{folder}/{path.stem}"
        for folder in ("originals", "ports")
        for path in (pairs / folder).glob("*.py")
    )


@pytest.mark.parametrize(("theirs", "ours"), SCRAPY_NAMES.items())
def test_a_setting_of_scrapy_is_beside_ours(theirs, ours):
    assert re.search(rf"^\|.*`{theirs}`.*\|.*`{ours}`.*\|$", SCRAPY_PAGE, re.MULTILINE)


def test_everything_that_scrapy_has_is_on_the_page():
    defaults = pytest.importorskip("scrapy.settings.default_settings")
    import scrapy.commands
    import scrapy.http
    import scrapy.signals
    import scrapy.spiders

    named = set(re.findall(r"\w+", SCRAPY_PAGE))
    settings = {name for name in vars(defaults) if name.isupper()}
    parts = {
        part.rpartition(".")[2]
        for kind in ("DOWNLOADER_MIDDLEWARES", "SPIDER_MIDDLEWARES", "EXTENSIONS")
        for part in getattr(defaults, f"{kind}_BASE")
    }
    commands = {module.name for module in pkgutil.iter_modules(scrapy.commands.__path__)}
    signals = {name for name in vars(scrapy.signals) if not name.startswith("_")}
    classes = {*scrapy.spiders.__all__, *scrapy.http.__all__} - {"Headers"}

    assert (settings | parts | commands | signals | classes) - named == set()
