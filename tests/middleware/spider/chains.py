"""Chains around a spider that does nothing, and what passes through them."""

from crawler.data import Links, LostItem, Response
from crawler.middleware import SpiderChain

HOME = "http://site.test/"
PAGE = Response(HOME, 200)


class Spider:
    """A spider with the attributes it is given."""

    def __init__(self, **attributes):
        vars(self).update(attributes)

    def parse(self, response):
        return None

    def parse_product(self, response):
        return None

    def parse_category(self, response):
        return None


def opened(*middlewares, **attributes):
    chain = SpiderChain(middlewares, Spider(**attributes))
    chain.open()
    return chain


def html(text, url=HOME, **headers):
    return Response(url, 200, {"content-type": "text/html; charset=utf-8"} | headers, text.encode())


def xml(text, content_type="application/rss+xml; charset=utf-8"):
    return Response(HOME + "feed", 200, {"content-type": content_type}, text.encode())


def urls(chain, response):
    return [request.url for request in chain.response(response, lambda _: None)]


def passed(chain, url, response=PAGE):
    """Return the request for *url*, found on a page, after the chain; None if it was dropped."""
    found = list(filter(is_kept, chain.response(response, lambda _: url)))
    return found[0] if found else None


def is_kept(found):
    """Return whether a middleware has not dropped or failed on what was *found*."""
    return not isinstance(found, LostItem | Links)


def collect(flow):
    """Return what *flow* yields but what was lost, and what it raises at the end, or None."""
    found = []
    try:
        for each in flow:
            found += [each] if is_kept(each) else []
    except Exception as error:
        return found, error
    return found, None
