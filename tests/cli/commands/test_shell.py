"""A Python prompt on a page."""

import subprocess

from ..conftest import CRAWLER


def test_the_shell_has_the_page(titles, tmp_path):
    done = subprocess.run(
        [*CRAWLER, "shell", titles.url("/a")],
        cwd=tmp_path,
        input="print('title is', response.css('title::text').get())\n",
        capture_output=True,
        text=True,
        timeout=50,
    )

    assert "title is A" in done.stdout
