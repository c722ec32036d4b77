"""A Python prompt on a page."""

import subprocess

import pytest

from ..conftest import CRAWLER


def typed(url, tmp_path, *lines, **environ):
    """What the shell prints on stdout and stderr for *lines* on its standard input."""
    done = subprocess.run(
        ["env", *(f"{name}={value}" for name, value in environ.items()), *CRAWLER, "shell", url],
        cwd=tmp_path,
        input="".join(f"{line}\n" for line in lines),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done


def test_the_shell_has_the_page(titles, tmp_path):
    lines = ("print('title is', response.css('title::text').get())", "print(page is response)")
    done = typed(titles.url("/a"), tmp_path, *lines)

    assert "title is A" in done.stdout
    assert "True" in done.stdout


def test_view_shows_the_page_in_the_browser_of_the_user(titles, tmp_path):
    browser = tmp_path / "browser"
    browser.write_text(
        f'#!/bin/sh\ncp "${{1#file://}}" {tmp_path}/shown\necho "$1" > {tmp_path}/url\n'
    )
    browser.chmod(0o755)

    done = typed(titles.url("/a"), tmp_path, "view()", BROWSER=f"{browser} %s", DISPLAY="")

    shown = (tmp_path / "shown").read_text("utf-8-sig")
    assert shown.endswith("<title>A</title>")
    assert f'<base href="{titles.url("/a")}">' in shown
    path = (tmp_path / "url").read_text().strip().removeprefix("file://")
    assert f"opened {path}: without scripts" in done.stderr
    assert subprocess.run(["test", "-e", path]).returncode == 1, "the file is left"


def test_on_a_terminal_the_prompt_is_that_of_ipython(titles, tmp_path, terminal):
    pytest.importorskip("IPython")
    shown = terminal("shell", titles.url("/a"), IPYTHONDIR=str(tmp_path / "ipython"))
    shown.read_until(r"view\(\) shows it", r"In \[1\]")
    shown.press(b"'title: ' + response.title\r")
    shown.read_until("Out.*'title: A'")
    shown.press(b"exit\r")

    assert shown.wait() == 0
