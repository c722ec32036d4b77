from crawler.data import Response
from crawler.spider import resolve_href
from crawler.spider.resolve_href import HrefResolver

PAGE = Response("http://site.test/folder/page", 200)


def test_what_is_remembered_of_whole_urls_does_not_grow_without_end():
    most = resolve_href._MANY_WHOLE
    joiners = [HrefResolver(PAGE, f"http://site{n}.test/") for n in range(3)]

    for number in range(most + 5000):
        url = f"http://other.test/{number}"
        assert joiners[number % 3](url) == url
        assert joiners[0](url) == url

    assert 0 < len(resolve_href._whole) <= most
    assert all(len(join.known) <= 1024 for join in joiners)


def test_long_urls_are_joined_and_not_remembered():
    join = HrefResolver(PAGE, "http://long.test/")
    whole, rooted = "http://other.test/" + "x" * 300, "/" + "x" * 300

    assert (join(whole), join(rooted)) == (whole, "http://long.test" + rooted)

    assert whole not in resolve_href._whole
    assert not {whole, rooted} & join.known.keys()


def test_a_whole_url_that_one_site_has_met_is_known_to_the_others():
    url = "http://other.test/met"
    first, second = (HrefResolver(PAGE, f"http://{name}.test/") for name in ("first", "second"))

    assert first(url) == second(url) == url

    assert resolve_href._whole[url] == url


def test_what_a_site_remembers_is_its_own():
    first, second = (HrefResolver(PAGE, f"http://{name}.test/") for name in ("first", "second"))

    assert (first("/x"), second("/x")) == ("http://first.test/x", "http://second.test/x")
