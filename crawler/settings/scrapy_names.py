"""The settings of Scrapy that have a counterpart here, for the hint after a ported name."""

from __future__ import annotations

from collections.abc import Mapping

#: The name of our setting by the name in Scrapy; docs/coming-from-scrapy.md says how they differ.
SCRAPY_NAMES: Mapping[str, str] = {
    "AUTOTHROTTLE_ENABLED": "politeness.latency_factor",
    "AUTOTHROTTLE_MAX_DELAY": "politeness.max_adaptive",
    "CLOSESPIDER_ERRORCOUNT": "max_errors",
    "CLOSESPIDER_PAGECOUNT": "max_pages",
    "CLOSESPIDER_TIMEOUT": "max_seconds",
    "CONCURRENT_ITEMS": "pipeline_workers",
    "CONCURRENT_REQUESTS": "concurrency",
    "CONCURRENT_REQUESTS_PER_DOMAIN": "per_host",
    "CONCURRENT_REQUESTS_PER_IP": "politeness.per_ip",
    "COOKIES_ENABLED": "cookies",
    "DEFAULT_REQUEST_HEADERS": "headers",
    "DEPTH_LIMIT": "depth",
    "DOWNLOAD_DELAY": "delay",
    "DOWNLOAD_DELAY_JITTER": "politeness.jitter",
    "DOWNLOAD_MAXSIZE": "max_body",
    "DOWNLOAD_TIMEOUT": "timeout",
    "DOWNLOAD_VERIFY_CERTIFICATES": "verify",
    "DUPEFILTER_CLASS": "duplicate_filter",
    "ITEM_PIPELINES": "pipelines",
    "MEMUSAGE_LIMIT_MB": "memory_hard",
    "MEMUSAGE_WARNING_MB": "memory_soft",
    "RANDOMIZE_DOWNLOAD_DELAY": "politeness.jitter",
    "REDIRECT_ENABLED": "max_redirects",
    "REDIRECT_MAX_TIMES": "max_redirects",
    "REFERER_ENABLED": "referer",
    "REFERRER_POLICY": "referer",
    "RETRY_ENABLED": "retries",
    "RETRY_EXCEPTIONS": "retries.kinds",
    "RETRY_HTTP_CODES": "retries.statuses",
    "RETRY_TIMES": "retries",
    "ROBOTSTXT_OBEY": "robots",
    "SCRAPER_SLOT_MAX_ACTIVE_SIZE": "max_in_flight_bytes",
    "USER_AGENT": "user_agent",
}
