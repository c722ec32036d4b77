from scrapy.spiders import SitemapSpider


class ShopSitemap(SitemapSpider):
    name = "sitemap"
    sitemap_urls = ["http://shop.test/robots.txt"]
    sitemap_follow = [r"/sitemap-products"]
    sitemap_rules = [(r"/product/[1-5]", "parse_product"), (r"/category/", "parse_category")]

    def parse_product(self, response):
        yield {"product": response.css("h1::text").get().strip()}

    def parse_category(self, response):
        yield {"category": response.css("h1::text").get()}
