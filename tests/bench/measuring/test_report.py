"""What reports say, and what is made of those that were kept."""

from crawler.bench.measuring.report import Target, spread, table, times


def test_a_target_shows_whether_it_holds():
    assert str(Target("ours, of theirs", 1.5, 1.6)) == "yes ours, of theirs: 1.50 (≤ 1.6)"
    assert str(Target("ours, of theirs", 1.7, 1.6)) == "NO  ours, of theirs: 1.70 (≤ 1.6)"
    assert Target("theirs, of ours", 8.0, 8.0, at_least=True).holds
    assert not Target("theirs, of ours", 7.9, 8.0, at_least=True).holds


def test_ratios_are_taken_repeat_by_repeat():
    assert times([10.0, 40.0], [5.0, 20.0]) == [2.0, 2.0]
    assert spread([3.0, 1.0, 2.0]) == "2 [1–3]"
    assert spread([1.26], 1) == "1.3"
    assert spread([]) == ""


def test_columns_are_aligned():
    assert table(("row", "µs"), [("a", "1"), ("longer", "100")]).splitlines() == [
        "row      µs",
        "a         1",
        "longer  100",
    ]
