"""Pages of test sites, and what the sites saw of a crawl."""

import itertools
import socket

#: What a measured gap may fall short of the delay: clocks of two sockets are not one clock.
TOLERANCE = 0.004


def page(*hrefs):
    return "".join(f'<a href="{href}">x</a>' for href in hrefs)


def after(times, first, then):
    """A page that answers *first* for the first *times* requests."""
    counter = itertools.count()
    return lambda request: first if next(counter) < times else then


def gaps(hits):
    at = sorted(hit.at for hit in hits)
    return [later - earlier for earlier, later in itertools.pairwise(at)]


def closed_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]
