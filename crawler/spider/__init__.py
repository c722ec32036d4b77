"""What authors of spiders use: spiders, pages, links, sitemaps and news feeds."""

from .crawl_spider import CrawlSpider, Rule
from .ignored_names import ignored_names
from .item_pipelines import ItemPipelines
from .link_extractor import FoundLink, LinkExtractor
from .links import links, title
from .listing_spiders import NewsFeedSpider, SitemapSpider
from .news_feed import NewsEntry, NewsFeed, parse_news_feed
from .page import Page
from .page_spider import PageSpider
from .request_kinds import FormRequest, JsonRequest
from .router import Router
from .sitemap import Sitemap, SitemapEntry, parse_sitemap
from .spider import Spider, first_requests, named_urls

__all__ = [
    "CrawlSpider",
    "FormRequest",
    "FoundLink",
    "ItemPipelines",
    "JsonRequest",
    "LinkExtractor",
    "NewsEntry",
    "NewsFeed",
    "NewsFeedSpider",
    "Page",
    "PageSpider",
    "Router",
    "Rule",
    "Sitemap",
    "SitemapEntry",
    "SitemapSpider",
    "Spider",
    "first_requests",
    "ignored_names",
    "links",
    "named_urls",
    "parse_news_feed",
    "parse_sitemap",
    "title",
]
