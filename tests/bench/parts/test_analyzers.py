"""The benchmark of analyzer processes."""

from crawler.bench.measuring.report import Report
from crawler.bench.parts import analyzers


def test_the_gain_of_analyzers_is_a_target():
    rows = {
        "0 analyzers": {analyzers._RATE: [100.0], "cpu_ms": [6.0]},
        "2 analyzers": {analyzers._RATE: [160.0], "cpu_ms": [7.0]},
    }
    report = Report("analyzers", {"pages": 9}, rows, analyzers._targets(rows))

    assert [(target.value, target.holds) for target in report.targets] == [(1.6, True)]
    assert "pages per second with 2 analyzers ÷ without: 1.60 (≥ 1.5)" in analyzers.show(report)
    assert analyzers._targets({"0 analyzers": rows["0 analyzers"]}) == []
