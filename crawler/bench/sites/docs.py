"""Documentation that packages of the system have installed: pages that nobody here has made."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

_SHARE = Path("/usr/share")
#: Below /usr/share, by package: the folder of a documentation, and its first page.
_PLACES = {
    "python3-doc": ("doc/python3-doc/html", "index.html"),
    "sqlite3-doc": ("doc/sqlite3", "index.html"),
    "libboost-doc": ("doc/libboost-doc", "doc/html/index.html"),
    "openjdk-17-doc": ("doc/openjdk-17-jre-headless/api", "index.html"),
    "cppreference-doc-en-html": ("cppreference/doc/html", "en/index.html"),
    "postgresql-doc-15": ("doc/postgresql-doc-15/html", "index.html"),
}
PACKAGES = tuple(_PLACES)


@dataclass(frozen=True)
class Docs:
    """The HTML pages of a *package* in the folder *root*; links to other files lead to a 404."""

    package: str
    root: str
    first: str
    port: int = 0

    hosts: ClassVar = 1
    #: How many pages can be reached by links is not known before they are crawled.
    pages: ClassVar = None
    locations: ClassVar = """
        gzip on; gzip_comp_level 1; gzip_min_length 0; absolute_redirect off;
        location ~ "(\\.html?|/)$" { }
        location / { return 404; }
    """

    def __str__(self) -> str:
        return f"the pages of {self.package}"

    def url(self, _number: int = 0) -> str:
        return f"http://127.0.0.1:{self.port}/{self.first}"


def installed(packages: Collection[str] = PACKAGES, share: Path = _SHARE) -> Iterator[Docs]:
    """Yield the documentation of each of *packages* that is installed."""
    for package in packages:
        folder, first = _PLACES[package]
        if (share / folder / first).is_file():
            yield Docs(package, str(share / folder), first)
