from crawler.errors import FetchError
from crawler.testing import Site

from .sites import page


def test_each_reason_comes_with_a_few_samples(crawl):
    pages = {"/": page(*(f"http://other{n}.test/" for n in range(9)), "ftp://site.test/", "/gone")}
    site = Site(pages | {"/gone": FetchError("tls", "no")})

    summary, _ = crawl(site.url("/"), fetch=site, robots=False)

    assert summary.samples == {
        "domain": [f"http://other{n}.test/" for n in range(3)],
        "scheme": ["ftp://site.test/"],
        "tls": [site.url("/gone")],
    }
