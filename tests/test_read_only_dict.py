"""A request cannot be changed; an error says what to write."""

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
