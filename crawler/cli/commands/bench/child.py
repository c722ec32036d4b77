"""``crawler bench child``: the process in which a function is measured."""

from __future__ import annotations

import click


@click.command(hidden=True)
@click.argument("text")
def child(text: str) -> None:
    """Run and measure the function that TEXT describes as JSON."""
    from ....bench.measuring.child import work

    work(text)
