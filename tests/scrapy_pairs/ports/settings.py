from crawler import Spider


class Settings(Spider):
    start_urls = ["http://shop.test/category/a", "http://quotes.test/echo"]
    settings = {
        "delay": 0.01,
        "concurrency": 4,
        "per_host": 1,
        "depth": 1,
        "timeout": 20,
        "max_body": 1_000_000,
        "retries": 1,
        "user_agent": "tea-bot (+http://tea.test/bot)",
        "headers": {"Accept-Language": "de"},
    }

    def parse(self, page):
        if page.url.endswith("/echo"):
            headers = page.json()
            yield {"agent": headers["user-agent"], "language": headers["accept-language"]}
            return
        yield {"url": page.url}
        yield from page.follow_all(css=".products a, .more a")
