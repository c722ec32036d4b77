"""
HTTP clients a Downloader can be given: each is a callable, (Request) -> Response.

They follow no redirect, keep no cookie, and raise nothing but FetchError; a response
they return is whole, decoded, and within its limits.
"""

from .address_guard import AddressGuard, any_address
from .curl.client import CurlFetch
from .limits import Limits
from .session import SessionFetch

__all__ = ["AddressGuard", "CurlFetch", "Limits", "SessionFetch", "any_address"]
