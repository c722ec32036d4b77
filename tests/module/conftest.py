"""Findings one by one, as a frontier would see them."""

from crawler.data import Link, Links
from crawler.url import resolve_or_keep


def each(findings):
    """Yield *findings*, with the links of a chunk one by one."""
    for found in findings:
        if isinstance(found, Links):
            for url in found.urls:
                yield Link(resolve_or_keep(found.found_on, url), found.depth, found.found_on)
        else:
            yield found
