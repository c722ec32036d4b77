"""A site behind a cache, and its pages."""

from email.utils import formatdate

from crawler import Request
from crawler.middleware import HttpCache, Middlewares
from crawler.testing import Reply, Site

HOME = "http://site.test/"
HIT, ASKED, REVALIDATED, STALE = ({"cached"}, set(), {"revalidated"}, {"stale"})


class Cached:
    """A site in a dict behind a cache; a call returns body and flags of the response."""

    def __init__(self, directory, clock, page, *outer, inner=(), **options):
        self.site = Site({"/": page})
        self.cache = HttpCache(directory, clock=clock, **options)
        self.chain = Middlewares(self.site, [*outer, self.cache, *inner])

    def __call__(self, method="GET", **request):
        response = self.chain(Request(HOME, method, **request))
        return response.body.decode(), set(response.flags)

    def flags(self, **request):
        return self(**request)[1]

    @property
    def asked(self):
        return len(self.site.requests)


def date(clock, offset=0):
    return formatdate(clock.now + offset, usegmt=True)


def numbered(**headers):
    """Return a page with the number of times it was served in its body."""
    count = iter(range(1, 100))
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda request: Reply(200, fields, f"page {next(count)}")


def validated(clock, **headers):
    """Return a page with validators, which answers 304 to a request with the same ones."""
    fields = {name.replace("_", "-"): value for name, value in headers.items()}

    def page(request):
        same = request.headers.get("if-none-match") == fields.get("etag", "no")
        same = same or request.headers.get("if-modified-since") == fields.get("last-modified", "no")
        extra = {"date": date(clock), "x-seen": str(clock.now)}
        return Reply(304, fields | extra) if same else Reply(200, fields | extra, "page")

    return page
