"""A request cannot be changed; an error says what to write."""

import copy

import pytest

from crawler import Page, Request, Response

URL = "http://site.test/"


@pytest.mark.parametrize("name", ["meta", "cb_kwargs"])
def test_a_change_is_an_error_that_names_the_remedy(name):
    page = Page.of(Response(URL, 200))

    for owner in (page, Request(URL), Request(URL, **{name: {"page": 1}})):
        with pytest.raises(TypeError, match=r"request\.replace\(meta="):
            getattr(owner, name)["page"] = 2
        with pytest.raises(TypeError, match="cannot be changed"):
            getattr(owner, name).update(page=2)


@pytest.mark.parametrize(
    ("key", "instead"), [("depth", r"request\.depth"), ("retry_times", r"request\.attempts")]
)
def test_a_key_of_scrapy_is_an_error_that_says_where_the_same_is(key, instead):
    for request in (Request(URL), Request(URL, meta={"page": 1})):
        with pytest.raises(KeyError, match=instead):
            request.meta[key]
        with pytest.raises(KeyError, match=instead):
            request.meta.get(key, 0)
        assert request.meta.get("other", 3) == 3
    assert Request(URL, meta={"depth": 2}).meta.get("depth") == 2
    assert Request(URL).cb_kwargs.get("depth") is None


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, dict, lambda meta: meta.copy()])
def test_a_copy_can_be_changed(copied):
    page = Page.of(Response(URL, 200, request=Request(URL, meta={"tags": ["a"]}, depth=2)))

    for meta in (page.meta, page.request.meta):
        mine = copied(meta)
        mine["page"] = 2
        assert mine == {"tags": ["a"], "page": 2}
    assert copy.deepcopy(page.meta)["tags"] is not page.meta["tags"]
