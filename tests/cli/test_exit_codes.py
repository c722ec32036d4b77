"""How a failed command ends: the code, one line, and where the user's code failed."""

import click
import pytest

from crawler.cli.exit_codes import exit_code_of
from crawler.errors import CrawlerError, JobError

from .conftest import crawler


def ended(error, capsys, *, verbose=False):
    code = exit_code_of(error, verbose=verbose)
    return code, capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (ValueError("depth: -1"), 2, "crawler: depth: -1"),
        (click.UsageError("no such file"), 2, "crawler: no such file (crawler --help explains)"),
        (click.ClickException("no"), 1, "crawler: no"),
        (JobError("is in use"), 6, "crawler: is in use"),
        (OSError("no room"), 6, "crawler: no room"),
        (KeyboardInterrupt(), 130, "crawler: interrupted"),
        (click.Abort(), 130, "crawler: interrupted"),
    ],
)
def test_an_error_of_which_the_message_is_enough_is_one_line(capsys, error, code, line):
    assert ended(error, capsys) == (code, f"{line}\n")


def raised_by(code, name):
    """Return what the file *name* with the text *code* raises."""
    try:
        exec(compile(code, name, "exec"), {})
    except Exception as error:
        return error


def test_an_error_in_the_code_of_a_user_has_its_file_and_line(capsys):
    code, line = ended(raised_by("x = {}\n\nx['price']", "shop/spider.py"), capsys)

    assert code == 6
    assert line == "crawler: KeyError: 'price' (spider.py, line 3; -v shows the traceback)\n"


def test_an_error_in_the_syntax_of_a_file_has_its_file_and_line(capsys):
    error = raised_by("x = 1\nx = (", "shop/spider.py")

    assert "(spider.py, line 2; -v" in ended(error, capsys)[1]


def test_the_traceback_is_shown_on_request(capsys):
    _, text = ended(raised_by("1 / 0", "spider.py"), capsys, verbose=True)

    assert text.startswith("Traceback")
    assert text.splitlines()[-1].startswith("crawler: ZeroDivisionError: division by zero")


def test_what_a_page_puts_into_a_message_does_not_control_the_terminal(capsys):
    _, text = ended(CrawlerError("title \x1b]0;pwned\x07\nmore"), capsys)

    assert "\x1b" not in text
    assert "\x07" not in text
    assert text.count("\n") == 1


@pytest.mark.parametrize("group", [[], ["new"]])
def test_without_a_command_the_help_is_printed_as_it_is(group, tmp_path):
    ended = crawler(*group, cwd=tmp_path)

    assert ended.returncode == 2
    assert "\nCommands:\n" in ended.stderr
    assert "crawler: " not in ended.stderr
