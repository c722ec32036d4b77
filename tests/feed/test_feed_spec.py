from pathlib import Path

import pytest

from crawler.feed.feed_spec import FeedSpec


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("a.csv", FeedSpec("a.csv", "csv")),
        ("a.csv:fields=url", FeedSpec("a.csv", "csv", ("url",))),
        ("a.csv:fields=url,og:title", FeedSpec("a.csv", "csv", ("url", "og:title"))),
        ("a.txt:jsonl:fields=b,a", FeedSpec("a.txt", "jsonl", ("b", "a"))),
        ("-:fields=a", FeedSpec("-", "jsonl", ("a",))),
        ("a%d.jl:records=10", FeedSpec("a%d.jl", "jsonl", records=10)),
        ("a%d.jl:bytes=2kB", FeedSpec("a%d.jl", "jsonl", bytes=2000)),
        ("a%d.jl:bytes=1MiB:records=5", FeedSpec("a%d.jl", "jsonl", records=5, bytes=2**20)),
        (
            "a%03d.csv:spreadsheet:records=5:fields=x,y",
            FeedSpec("a%03d.csv", "spreadsheet", ("x", "y"), 5),
        ),
        ("100%.csv", FeedSpec("100%.csv", "csv")),
        ("a:records.csv", FeedSpec("a:records.csv", "csv")),
    ],
)
def test_a_name_says_file_format_and_options(text, spec):
    assert FeedSpec.parse(text) == spec


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a.csv:fields=", "names with commas"),
        ("a.csv:fields=a,,b", "names with commas"),
        ("a.csv:fields=a,a", "each once"),
        ("a.csv:fields=a:fields=b", "has an option twice"),
        ("a%d.csv:records=0", "records is a number above 0, such as 10000, not '0'"),
        ("a%d.csv:records=5kB", "records is a number"),
        ("a%d.csv:records=-5", "records is a number"),
        ("a%d.csv:bytes=many", "bytes is a number above 0, such as 100MB, not 'many'"),
        ("a.csv:records=5", "needs one number in its name, such as items-%03d.jsonl"),
        ("%d/a.csv:records=5", "needs one number in its name"),
        ("%d%d.csv:records=5", "needs one number in its name"),
        ("-:records=5", "needs one number in its name"),
        ("a%03d.csv", "no size: add .* such as :records=10000 or :bytes=100MB"),
    ],
)
def test_what_is_wrong_is_named_with_the_remedy(text, message):
    with pytest.raises(ValueError, match=message):
        FeedSpec.parse(text)


def test_a_number_is_put_into_the_name():
    assert FeedSpec.parse("d/a-%03d.csv:records=5").numbered_path(7) == Path("d/a-007.csv")
    assert FeedSpec.parse("d/a-%d.csv:records=5").numbered_path(1234) == Path("d/a-1234.csv")
