"""What people who write spiders use: the spider, its pages, their links."""

from .kinds import FeedSpider, SitemapSpider
from .links import links, title
from .page import Page
from .pages import Pages
from .router import Router
from .sitemap import Sitemap, SitemapEntry, parse_sitemap
from .spider import Spider, first_requests
from .syndication import Feed, FeedEntry, parse_feed

__all__ = [
    "Feed",
    "FeedEntry",
    "FeedSpider",
    "Page",
    "Pages",
    "Router",
    "Sitemap",
    "SitemapEntry",
    "SitemapSpider",
    "Spider",
    "first_requests",
    "links",
    "parse_feed",
    "parse_sitemap",
    "title",
]
