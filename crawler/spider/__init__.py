"""What people who write spiders use: the spider, its pages, their links."""

from .links import links, title
from .page import Page
from .pages import Pages
from .spider import Spider, first_requests

__all__ = ["Page", "Pages", "Spider", "first_requests", "links", "title"]
