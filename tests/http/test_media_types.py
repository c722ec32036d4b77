import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.http.media_types import extension_of, media_type


@pytest.mark.parametrize(
    ("content_type", "extension"),
    [
        ("image/png", ".png"),
        ("IMAGE/JPEG; q=1", ".jpg"),
        ("image/webp", ".webp"),
        ("application/pdf", ".pdf"),
        ("text/html; charset=utf-8", ".html"),
        ("application/x-unheard-of", ""),
        ("image/../../etc/passwd", ""),
        ("image/png/../../x", ""),
        ("", ""),
    ],
)
def test_an_extension_comes_from_a_table(content_type, extension):
    assert extension_of(content_type) == extension


@given(st.text())
def test_no_content_type_leads_to_another_directory(content_type):
    assert "/" not in extension_of(content_type)


def test_parameters_and_case_do_not_count():
    assert media_type(" Text/HTML ; charset=x") == "text/html"
