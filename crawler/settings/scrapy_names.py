"""The settings of Scrapy and what they are called here, for the hint after a ported name."""

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

#: What to write instead of a setting that only Scrapy has.
INSTEAD_OF_SETTINGS: Mapping[str, str] = {
    "BOT_NAME": "write user_agent, and contact",
    "CLOSESPIDER_ITEMCOUNT": "nothing counts items: write max_pages, or end a loop over stream()",
    "DOWNLOADER_MIDDLEWARES": "name the classes in the list download_middlewares of the spider",
    "EXTENSIONS": "there are no extensions: write open(), close() and on_error() in the spider",
    "FEEDS": "give -O FILE or -o FILE to the command",
    "FEED_EXPORT_BATCH_ITEM_COUNT": "give -O items-%03d.jsonl:records=… to the command",
    "FEED_EXPORT_ENCODING": "files are written in UTF-8",
    "FEED_EXPORT_FIELDS": "give -O items.csv:fields=… to the command",
    "FEED_FORMAT": "give -O FILE to the command; its extension is the format",
    "FEED_URI": "give -O FILE to the command",
    "FILES_STORE": 'write FilesPipeline("files") of crawler.media in pipelines of the spider',
    "HTTPCACHE_ENABLED": 'write HttpCache("cache") of crawler.middleware in download_middlewares',
    "HTTPERROR_ALLOWED_CODES": "write handle_httpstatus_list in the spider",
    "HTTPERROR_ALLOW_ALL": "write handle_httpstatus_list in the spider",
    "IMAGES_STORE": 'write ImagesPipeline("images") of crawler.media in pipelines of the spider',
    "JOBDIR": "give --job DIR to the command, or job= to crawl()",
    "LOG_ENABLED": "give -L LEVEL to the command",
    "LOG_FILE": "the log is on stderr: write 2> FILE",
    "LOG_LEVEL": "give -L LEVEL to the command",
    "METAREFRESH_ENABLED": "write MetaRefresh of crawler.middleware in download_middlewares",
    "SPIDER_MIDDLEWARES": "name the classes in the list middlewares of the spider",
    "URLLENGTH_LIMIT": "write UrlLength of crawler.middleware in middlewares of the spider",
}


def hint(unknown: str) -> str:
    """Return what to write instead of *unknown*, if that is a name as Scrapy has them; or ""."""
    if unknown in SCRAPY_NAMES:
        return f"it is called {SCRAPY_NAMES[unknown]!r} here"
    if unknown in INSTEAD_OF_SETTINGS:
        return INSTEAD_OF_SETTINGS[unknown]
    if not unknown.isupper():
        return ""
    return (
        "a value of your own is an attribute of the spider (-a name=value); "
        "docs/coming-from-scrapy.md has each setting of Scrapy"
    )
