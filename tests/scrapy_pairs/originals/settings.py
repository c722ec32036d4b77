import scrapy


class SettingsSpider(scrapy.Spider):
    name = "settings"
    start_urls = ["http://shop.test/category/a", "http://quotes.test/echo"]
    custom_settings = {
        "DOWNLOAD_DELAY": 0.01,
        "CONCURRENT_REQUESTS": 4,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
        "DEPTH_LIMIT": 1,
        "DOWNLOAD_TIMEOUT": 20,
        "DOWNLOAD_MAXSIZE": 1_000_000,
        "RETRY_ENABLED": False,
        "USER_AGENT": "tea-bot (+http://tea.test/bot)",
        "DEFAULT_REQUEST_HEADERS": {"Accept-Language": "de"},
    }

    def parse(self, response):
        if response.url.endswith("/echo"):
            headers = response.json()
            yield {"agent": headers["user-agent"], "language": headers["accept-language"]}
            return
        yield {"url": response.url}
        yield from response.follow_all(css=".products a, .more a")
