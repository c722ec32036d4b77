"""A tree of pages on many hosts, each page linked once: a link that is lost is a page that is lost."""

from crawler.testing import LoopbackSite, Reply

HOSTS = tuple(f"127.0.0.{n}" for n in range(1, 13))


def host_of(number):
    return HOSTS[number % len(HOSTS)]


def tree_site(pages, delay=0.0):
    """Serve *pages* pages; every fifth is reached by a redirect from another host."""

    def page(request):
        kind, number = (
            request.url.rpartition("/")[0].rpartition("/")[2],
            request.url.rpartition("/")[2],
        )
        number = int(number)
        if kind == "moved":
            return Reply(302, {"location": url("page", number)}, delay=delay)
        links = "".join(f'<a href="{link(to)}">.</a>' for to in (2 * number + 1, 2 * number + 2))
        return Reply(200, body=f"<title>{number}</title>{links}", delay=delay)

    def link(to):
        if to >= pages:
            return "#"
        return url("moved", to) if to % 5 == 0 else url("page", to)

    def url(kind, number):
        home = host_of(number + 1) if kind == "moved" else host_of(number)
        return f"http://{home}:{site.port}/{kind}/{number}"

    paths = {f"/page/{n}": page for n in range(pages)}
    paths |= {f"/moved/{n}": page for n in range(0, pages, 5)}
    site = LoopbackSite(paths, addresses=HOSTS)
    site.first = lambda: url("page", 0)
    return site


SETTINGS = {
    "depth": None,
    "domains": list(HOSTS),
    "allow_private": True,
    "robots": False,
    "delay": 0,
    "politeness.latency_factor": 0,
    "per_host": 4,
}
