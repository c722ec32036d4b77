from crawler.spider import SitemapSpider


class ShopSitemap(SitemapSpider):
    sitemap_urls = ["http://shop.test/robots.txt"]
    sitemap_follow = [r"/sitemap-products"]
    sitemap_rules = [(r"/product/[1-5]", "parse_product"), (r"/category/", "parse_category")]

    def parse_product(self, page):
        yield {"product": page.css("h1::text").get().strip()}

    def parse_category(self, page):
        yield {"category": page.css("h1::text").get()}
