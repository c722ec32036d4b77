"""
Optional behaviour around the two seams of a crawl.

Download middlewares (download/) surround a fetch, spider middlewares (spider/) the callbacks of
a spider. In both folders contract.py defines the hooks, chain.py calls them in their order, and
almost every other file is one behaviour. spider/hooks.py times the hooks and collects their
failures; spider/per_spider.py keeps the state of a middleware for each spider.
"""

from typing import TYPE_CHECKING

from .._lazy_import import lazy_names

if TYPE_CHECKING:
    from .download.auth import HttpAuth
    from .download.chain import Middlewares
    from .download.contract import DownloadMiddleware, MiddlewareError
    from .download.cookies import Cookies
    from .download.digest_auth import DigestAuth
    from .download.headers import DefaultHeaders, UserAgent
    from .download.http_cache import HttpCache
    from .download.meta_refresh import MetaRefresh
    from .download.proxies import DefaultProxy, ProxyPool
    from .download.referer import Referer
    from .download.response_filters import ContentTypes, MaxSize
    from .spider.callback_rules import CallbackRules
    from .spider.canonicalize_url import CanonicalizeUrl
    from .spider.chain import SpiderChain
    from .spider.contract import HttpError, SpiderMiddleware
    from .spider.duplicates import Duplicates
    from .spider.hooks import HookFigures
    from .spider.item_ids import ItemIds
    from .spider.link_extractors import NewsFeedLinkExtractor, RegexLinkExtractor
    from .spider.offsite import Offsite
    from .spider.per_spider import PerSpider
    from .spider.request_limits import Depth, UrlLength
    from .spider.robots_txt import RobotsTxt
    from .spider.selector_map import SelectorMap

__all__ = [
    "CallbackRules",
    "CanonicalizeUrl",
    "ContentTypes",
    "Cookies",
    "DefaultHeaders",
    "DefaultProxy",
    "Depth",
    "DigestAuth",
    "DownloadMiddleware",
    "Duplicates",
    "HookFigures",
    "HttpAuth",
    "HttpCache",
    "HttpError",
    "ItemIds",
    "MaxSize",
    "MetaRefresh",
    "MiddlewareError",
    "Middlewares",
    "NewsFeedLinkExtractor",
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

__getattr__ = lazy_names(
    __name__,
    {
        "CallbackRules": "spider.callback_rules",
        "CanonicalizeUrl": "spider.canonicalize_url",
        "ContentTypes": "download.response_filters",
        "Cookies": "download.cookies",
        "DefaultHeaders": "download.headers",
        "DefaultProxy": "download.proxies",
        "Depth": "spider.request_limits",
        "DigestAuth": "download.digest_auth",
        "DownloadMiddleware": "download.contract",
        "Duplicates": "spider.duplicates",
        "HookFigures": "spider.hooks",
        "HttpAuth": "download.auth",
        "HttpCache": "download.http_cache",
        "HttpError": "spider.contract",
        "ItemIds": "spider.item_ids",
        "MaxSize": "download.response_filters",
        "MetaRefresh": "download.meta_refresh",
        "MiddlewareError": "download.contract",
        "Middlewares": "download.chain",
        "NewsFeedLinkExtractor": "spider.link_extractors",
        "Offsite": "spider.offsite",
        "PerSpider": "spider.per_spider",
        "ProxyPool": "download.proxies",
        "Referer": "download.referer",
        "RegexLinkExtractor": "spider.link_extractors",
        "RobotsTxt": "spider.robots_txt",
        "SelectorMap": "spider.selector_map",
        "SpiderChain": "spider.chain",
        "SpiderMiddleware": "spider.contract",
        "UrlLength": "spider.request_limits",
        "UserAgent": "download.headers",
    },
)
