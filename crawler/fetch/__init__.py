"""
HTTP clients for a Downloader: each is a callable, (Request) -> Response.

They do not follow redirects, do not keep cookies, and raise only FetchError. The responses
they return are complete, decoded and within the limits.
"""

from .address_guard import AddressGuard, any_address
from .curl.client import CurlFetch
from .limits import Limits
from .session import SessionFetch

__all__ = ["AddressGuard", "CurlFetch", "Limits", "SessionFetch", "any_address"]
