"""
HTTP clients a Downloader can be given: each is a callable, (Request) -> Response.

They follow no redirect, keep no cookie, and raise nothing but FetchError; a response
they return is whole, decoded, and within its limits.
"""

from .curl import CurlFetch
from .limits import Limits
from .session import SessionFetch

__all__ = ["CurlFetch", "Limits", "SessionFetch"]
