"""What people who write spiders use: the links and the title of a page."""

from .links import links, title

__all__ = ["links", "title"]
