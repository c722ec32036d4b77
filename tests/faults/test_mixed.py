"""A site where every tenth page is bad: each page has one outcome, and no good one is missing."""

from collections import Counter

import pytest

from crawler import Request
from crawler.testing import generated_site

from .kinds import KINDS


def mixed_site(repeats, pages):
    """Return good pages that link to each other and to bad ones, and the paths of the bad ones."""
    bad = {
        f"/bad/{number}/{repeat}": name
        for number, name in enumerate(KINDS)
        for repeat in range(repeats)
    }
    site = generated_site(pages=pages, links=10, size=1000)
    for place, path in enumerate(bad):
        host = list(site)[place * 7919 % pages]
        site[host] += f'<a href="{path}">bad</a>'
    return site, bad


def outcomes(result):
    """Return the outcome of each admitted page by path; a second outcome is an error."""
    found = [(item["first"], "done") for item in result.items]
    found += [(first(error.request), error.kind) for error in result.errors]
    refused = result.summary.samples
    found += [(url, why) for why in result.summary.urls.refused for url in refused.get(why, ())]
    return found


def first(request):
    return request.redirects[0] if request.redirects else request.url


def crawl_mixed(serve, visit, repeats, pages):
    site, bad = mixed_site(repeats, pages)
    server = serve({**site, **{path: KINDS[name][0] for path, name in bad.items()}})
    # Only these have little time: all others would come, however busy the machine is.
    hanging = {server.url(path) for path, name in bad.items() if "timeout" in KINDS[name][1]}

    def parse(spider, page):
        yield {"first": first(page.request), "title": page.title}
        for url in page.links():
            yield Request(url, timeout=4.0) if url in hanging else url

    result = visit(
        parse,
        server.url("/"),
        timeout=100,
        max_body=200_000,
        limits__headers=100_000,
        concurrency=64,
        retries=2,
    )
    return server, site, bad, result


def check(server, site, bad, result):
    prefix = server.url("")
    found = Counter(url.removeprefix(prefix) for url, _ in outcomes(result))
    wrong = {
        (bad[path], outcome)
        for url, outcome in outcomes(result)
        if (path := url.removeprefix(prefix).partition("?")[0]) in bad
        and outcome not in KINDS[bad[path]][1]
    }
    assert not wrong
    assert [path for path in site if found[path] != 1] == []
    hits = Counter(hit.path for hit in server.requests)
    assert [path for path in site if hits[path] != 1] == []
    assert [path for path, times in found.items() if times > 1] == []


def test_each_of_forty_faults_has_one_outcome_and_the_good_pages_are_all_there(serve, visit, quiet):
    """Seventy kinds among five hundred pages."""
    assert len(KINDS) >= 40

    server, site, bad, result = crawl_mixed(serve, visit, repeats=1, pages=500)

    check(server, site, bad, result)
    urls = result.summary.urls
    assert urls.admitted >= len(site) + len(bad)
    titles = Counter(item["title"] for item in result.items if "/page/" in item["first"])
    assert titles["not yours"] == 0


@pytest.mark.long
@pytest.mark.timeout(1500)
def test_twenty_five_of_each_among_ten_times_as_many(serve, visit, quiet):
    server, site, bad, result = crawl_mixed(serve, visit, repeats=25, pages=10 * 25 * len(KINDS))

    check(server, site, bad, result)
