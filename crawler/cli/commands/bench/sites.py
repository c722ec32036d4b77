"""The options that choose the sites of a benchmark."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from .options import count_option, hosts_option

if TYPE_CHECKING:
    from ....bench.sites.docs import Docs
    from ....bench.sites.shape import Shape
    from ....bench.sites.site import Site

_OPTIONS = {
    "kind": click.option(
        "--docs", "kind", flag_value="docs", help="Crawl documentation of installed packages."
    ),
    "plain": click.option(
        "--plain", "kind", flag_value="plain", help="Crawl a site of short paragraphs."
    ),
    "packages": click.option(
        "--packages", metavar="NAMES", help="With --docs: only these, such as sqlite3-doc."
    ),
    "pages": count_option("--pages", 5000, "The number of pages of a generated site."),
    "size": click.option(
        "--size", type=click.IntRange(1), help="With --plain: bytes per page.  [default: 13000]"
    ),
    "links": click.option(
        "--links", type=int, help="With --plain: links per page, at least 31.  [default: 71]"
    ),
    "hosts": hosts_option,
}


def site_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options; the command gets the *sites* that they choose."""

    @wraps(command)
    def with_sites(*, quick: bool, **options: Any) -> None:
        chosen = {name: options.pop(name) for name in _OPTIONS if name in options}
        command(sites=_sites(quick=quick, **chosen), quick=quick, **options)

    decorated: Callable[..., None] = with_sites
    for option in reversed(_OPTIONS.values()):
        decorated = option(decorated)
    return decorated


def _sites(
    *,
    quick: bool,
    kind: str | None,
    packages: str | None,
    pages: int | None,
    hosts: int,
    **sizes: int | None,
) -> Sequence[Site]:
    from ....bench.sites.web_shape import WebShape

    if kind == "docs":
        return _documentation(packages or ("sqlite3-doc" if quick else ""))
    if packages:
        raise click.UsageError("--packages needs --docs")
    number = pages or (500 if quick else 5000)
    if kind == "plain":
        return [_plain(number, hosts, sizes)]
    if hosts > 1 or any(sizes.values()):
        raise click.UsageError("--size, --links and --hosts need --plain")
    return [WebShape(number)]


def _plain(pages: int, hosts: int, sizes: dict[str, int | None]) -> Shape:
    from ....bench.sites.shape import Shape

    given = {name: value for name, value in sizes.items() if value is not None}
    try:
        return Shape(pages, hosts=hosts, absolute=hosts > 1, **given)
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def _documentation(packages: str) -> Sequence[Docs]:
    from ....bench.sites.docs import PACKAGES, installed

    wanted = packages.replace(" ", "").split(",") if packages else PACKAGES
    if unknown := set(wanted) - set(PACKAGES):
        known = ", ".join(PACKAGES)
        raise click.UsageError(f"unknown: {', '.join(sorted(unknown))}; known are {known}")
    found = list(installed(wanted))
    if not found:
        raise click.UsageError(f"none of these packages is installed: {', '.join(wanted)}")
    return found
