"""
Optional behaviour around the two seams of a crawl.

Download middlewares stand around a fetch, spider middlewares around a spider's callbacks;
download.py and spider.py hold the two contracts, every other file one behaviour.
"""

from .download import DownloadMiddleware, Middlewares

__all__ = ["DownloadMiddleware", "Middlewares"]
