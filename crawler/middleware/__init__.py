"""
Optional behaviour around the two seams of a crawl.

Download middlewares stand around a fetch, spider middlewares around a spider's callbacks;
download.py and spider.py hold the two contracts; chain.py and hooks.py call what keeps the
second; every other file is one behaviour.
"""

from typing import TYPE_CHECKING

from .._lazy_import import later

if TYPE_CHECKING:
    from .auth import HttpAuth
    from .cache import HttpCache
    from .callback_rules import CallbackRules
    from .canonicalizer import CanonicalizeUrl
    from .chain import SpiderChain
    from .cookies import Cookies
    from .download import DownloadMiddleware, MiddlewareError, Middlewares
    from .duplicates import Duplicates
    from .extractor import SelectorMap
    from .filters import ContentTypes, MaxSize
    from .headers import DefaultHeaders, UserAgent
    from .hooks import HookFigures
    from .item_ids import ItemIds
    from .limits import Depth, UrlLength
    from .link_extractors import FeedLinkExtractor, RegexLinkExtractor
    from .offsite import Offsite
    from .per_spider import PerSpider
    from .proxies import ProxyPool
    from .referer import Referer
    from .robots import RobotsTxt
    from .spider import HttpError, SpiderMiddleware

__all__ = [
    "CallbackRules",
    "CanonicalizeUrl",
    "ContentTypes",
    "Cookies",
    "DefaultHeaders",
    "Depth",
    "DownloadMiddleware",
    "Duplicates",
    "FeedLinkExtractor",
    "HookFigures",
    "HttpAuth",
    "HttpCache",
    "HttpError",
    "ItemIds",
    "MaxSize",
    "MiddlewareError",
    "Middlewares",
    "Offsite",
    "PerSpider",
    "ProxyPool",
    "Referer",
    "RegexLinkExtractor",
    "RobotsTxt",
    "SelectorMap",
    "SpiderChain",
    "SpiderMiddleware",
    "UrlLength",
    "UserAgent",
]

__getattr__ = later(
    __name__,
    {
        "CallbackRules": "callback_rules",
        "CanonicalizeUrl": "canonicalizer",
        "ContentTypes": "filters",
        "Cookies": "cookies",
        "DefaultHeaders": "headers",
        "Depth": "limits",
        "DownloadMiddleware": "download",
        "Duplicates": "duplicates",
        "FeedLinkExtractor": "link_extractors",
        "HookFigures": "hooks",
        "HttpAuth": "auth",
        "HttpCache": "cache",
        "HttpError": "spider",
        "ItemIds": "item_ids",
        "MaxSize": "filters",
        "MiddlewareError": "download",
        "Middlewares": "download",
        "Offsite": "offsite",
        "PerSpider": "per_spider",
        "ProxyPool": "proxies",
        "Referer": "referer",
        "RegexLinkExtractor": "link_extractors",
        "RobotsTxt": "robots",
        "SelectorMap": "extractor",
        "SpiderChain": "chain",
        "SpiderMiddleware": "spider",
        "UrlLength": "limits",
        "UserAgent": "headers",
    },
)
