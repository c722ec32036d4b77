import pytest

from crawler._words import counted


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((0, "page"), "0 pages"),
        ((1, "page"), "1 page"),
        ((2, "page"), "2 pages"),
        ((1, "commit", "is"), "1 commit is"),
        ((2, "commit", "is"), "2 commits are"),
        ((1, "line", "was"), "1 line was"),
        ((3, "line", "was"), "3 lines were"),
    ],
)
def test_a_noun_agrees_with_its_number(arguments, text):
    assert counted(*arguments) == text
