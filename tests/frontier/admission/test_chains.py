import uuid
from itertools import pairwise
from random import Random

import pytest

from crawler.frontier.admission.chains import Chains
from crawler.frontier.admission.traps import MAX_CHAIN

from ...cpu_time import takes_at_most

SITE = "http://example.org"
chance = Random(1)


def chained(paths, longest=50):
    """Return how many of *paths* come before the end, if each is found on the one before."""
    chains = Chains(longest, 1000)
    paths = [f"{SITE}/", *(f"{SITE}{path}" for path in paths)]
    found = (chains.add(url, n, page) for n, (page, url) in enumerate(pairwise(paths), 1))
    return next((n for n, is_over in enumerate(found) if is_over), None)


def session_id():
    return "".join(chance.choices("abcdefghijklmnopqrstuvwxyz012345", k=24))


def hexadecimal(size):
    return f"{chance.randrange(10, 16):x}{chance.randrange(10)}{chance.randbytes(size).hex()[2:]}"


@pytest.mark.parametrize(
    "form",
    [
        "/day/{n}",
        "/day/{n}/",
        "/{n}",
        "/{n}/{n}",
        "/page-{n}.html",
        "/list?page={n}",
        "/x;n={n}/y",
        "/week/{n}/day/{n}?view={n}",
    ],
)
def test_pages_that_differ_in_numbers_are_a_chain(form):
    assert chained(form.format(n=n) for n in range(60)) == 51


def test_so_are_pages_of_several_kinds_that_lead_to_each_other():
    assert chained(f"/{('day', 'night')[n % 2]}/{n}" for n in range(60)) == 52


def test_words_are_no_chain():
    words = ("".join(chance.choices("abcdefghij", k=12)) for _ in range(200))

    assert chained(f"/story/{word}" for word in words) is None


@pytest.mark.parametrize("longest", [1, 99, 100, 5000])
def test_the_limit_is_the_number_of_pages_but_for_a_hundredth(longest):
    end = chained((f"/day/{n}" for n in range(2 * longest + 10)), longest)

    assert longest < end <= longest * 1.01 + 1


def test_what_one_page_lists_is_no_chain():
    chains = Chains(50, 1000)
    listed = [f"{SITE}/p/{n}" for n in range(500)] + [f"{SITE}/{uuid.uuid4()}" for _ in range(500)]

    assert not any(chains.add(url, 1, f"{SITE}/all") for url in listed)


def test_items_of_a_catalogue_may_lead_to_one_another():
    """A thousand numbered items, each with three random ones beside it, found breadth first."""
    chains = Chains(50, 1000)
    depths, waiting = {0: 1}, [0]
    for item in waiting:
        for other in chance.choices(range(1000), k=3):
            if other not in depths:
                depths[other] = depths[item] + 1
                waiting.append(other)
                assert not chains.add(f"{SITE}/p/{other}", depths[other], f"{SITE}/p/{item}")

    assert len(depths) > 900


def test_the_default_lets_a_list_of_thousands_of_pages_pass():
    assert chained((f"/page/{n}/" for n in range(9000)), MAX_CHAIN) is None


# -- ids ------------------------------------------------------------------------------------------


def variants(form, number, make, longest=50):
    """Return how many of *number* links pass that each page gives a new id, at one depth."""
    chains = Chains(longest, 1000)
    urls = [SITE + form.format(id=make()) for _ in range(number)]
    return sum(not chains.add(url, 2, page) for page, url in pairwise(urls))


@pytest.mark.parametrize(
    "form",
    [
        "/(S({id}))/",
        "/(S({id}))/page/1",
        "/shop;jsessionid={id}",
        "/s/{id}/cart",
        "/{id}/",
        "/session-{id}.html",
        "/{id}/list?page=7",
    ],
)
@pytest.mark.parametrize(
    "make",
    [
        session_id,
        lambda: str(uuid.uuid4()),
        lambda: hexadecimal(4),
        lambda: hexadecimal(16).upper(),
    ],
    ids=["letters and digits", "UUID", "short hexadecimal", "long hexadecimal"],
)
def test_urls_that_differ_in_an_id_are_counted(form, make):
    assert variants(form, 100, make) == 50


@pytest.mark.parametrize(
    "make",
    [
        lambda: str(chance.randrange(10**7, 10**12)),
        lambda: "".join(chance.choices("abcdefghij", k=19)),
        lambda: f"{chance.randrange(10**6)}-some-title",
        lambda: f"IMG{chance.randrange(10**4)}",
    ],
    ids=["number", "word", "number and words", "file name"],
)
def test_numbers_words_and_names_are_no_ids(make):
    assert variants("/x/{id}/y", 100, make) == 99


def test_kinds_of_pages_with_ids_may_alternate():
    chains = Chains(50, 1000)
    paths = ["/(S({}))/about", "/(S({}))/page/1", "/(S({}))/"] * 200
    urls = [SITE + path.format(session_id()) for path in paths]

    assert sum(not chains.add(url, 2, page) for page, url in pairwise(urls)) == 150


def test_an_id_that_stays_the_same_is_not_counted():
    chains = Chains(50, 1000)
    home = f"{SITE}/(S({session_id()}))"

    assert not any(chains.add(f"{home}/page/{n}", 2, f"{home}/page/{n + 1}") for n in range(100))


def test_an_id_in_another_place_is_not_counted():
    """A list whose own URL has an id may have any number of items with ids."""
    chains = Chains(50, 1000)

    assert not any(
        chains.add(f"{SITE}/item/{uuid.uuid4()}", 2, f"{SITE}/list/{uuid.uuid4()}")
        for _ in range(100)
    )


def test_hostile_urls_cost_little():
    texts = ("a" * 2000, "a1" * 1000, "/a1b2c3d4" * 220, "1-" * 1000, "0" * 2000, ";a" * 1000)

    def add_all():
        chains = Chains(50, 1000)
        for text in texts:
            for n in range(5):
                chains.add(f"{SITE}/{text}", 60 + n, f"{SITE}/{n}{text}")

    assert takes_at_most(2, add_all)
