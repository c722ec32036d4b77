"""A gate compares one figure of a summary with a number."""

from dataclasses import replace

import pytest

from crawler.frontier import UrlCounts
from crawler.report.gates import Gate, checked_report


@pytest.mark.parametrize(
    ("condition", "failure"),
    [
        ("failed>1%", "failed>1%: failed is 20%"),
        ("failed > 20 %", None),
        ("failed>=20%", "failed>=20%: failed is 20%"),
        ("done<5", "done<5: done is 4"),
        ("done==4", "done==4: done is 4"),
        ("pending<=0", "pending<=0: pending is 0"),
        ("seconds>60", None),
        ("status:5xx>10%", "status:5xx>10%: status:5xx is 25%"),
        ("status:503>=3", "status:503>=3: status:503 is 3"),
        ("status:404>0", "status:404>0: status:404 is 2"),
        ("status:4xx>2", None),
        ("status:2xx<50%", None),
    ],
)
def test_a_gate_is_not_met_if_its_condition_holds(summary, condition, failure):
    counts = UrlCounts(admitted=5, done=4, failed={"dns": 1})

    codes = {200: 10, 404: 2, 500: 1, 503: 3}
    summary = replace(summary, urls=counts, status_codes=codes)

    assert Gate.parse(condition).failure(summary) == failure


def test_at_least_so_many_items(summary):
    assert Gate.at_least(0).failure(summary) is None
    assert Gate.at_least(1).failure(summary) == "items<1: items is 0"


@pytest.mark.parametrize(
    "text",
    ["", "failed", "failed>", "bogus>1", "failed>1%%", "failed=1", "status:6xx>1", "status:x>1"],
)
def test_other_text_is_an_error(text):
    with pytest.raises(ValueError, match="not a condition such as 'failed>1%'"):
        Gate.parse(text)


@pytest.mark.parametrize("name", ["x.txt", "report", "x.xml.gz"])
def test_a_report_needs_an_extension_that_says_what_to_write(tmp_path, name):
    with pytest.raises(ValueError, match=r"must end in \.json .* or \.xml"):
        checked_report(tmp_path / name)


def test_a_report_needs_a_directory(tmp_path):
    with pytest.raises(ValueError, match="nowhere is not a directory"):
        checked_report(tmp_path / "nowhere" / "x.json")
