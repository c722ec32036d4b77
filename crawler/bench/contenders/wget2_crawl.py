"""A crawl with wget2, a downloader in C: it follows the links of a site and writes every page to a file."""

from __future__ import annotations

import subprocess
from tempfile import TemporaryDirectory
from typing import Any

PROGRAM = "wget2"
_OPTIONS = ("--quiet", "--recursive", "--level=0", "--robots=off", "--tries=1", "--no-config")
#: It also follows these by default, which lead to no page.
_IGNORED = (
    "--ignore-tags=img,link,script,source,video,audio,embed,object,form,style,input,body,meta"
)


def crawl(url: str, concurrency: int) -> dict[str, Any]:
    """Crawl in a process, whose cost counts as that of this one."""
    threads = f"--max-threads={concurrency}"
    with TemporaryDirectory(prefix="crawler-bench-") as folder:
        command = [PROGRAM, *_OPTIONS, _IGNORED, threads, f"--directory-prefix={folder}", url]
        # It exits with 8 if a link leads to a 404.
        subprocess.run(command, check=False)
    return {}
