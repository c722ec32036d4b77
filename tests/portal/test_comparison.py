from crawler.frontier import UrlCounts
from crawler.portal.comparison import Row, comparison
from crawler.portal.figures import RunFigures


def run(**counts):
    return RunFigures("r", "finished", "", UrlCounts(**counts), {"status_codes": {}})


def test_figures_stand_side_by_side():
    first = run(admitted=5, done=4, failed={"timeout": 1})
    second = run(admitted=5, done=3, refused={"robots": 2})
    for one in (first, second):
        one.summary.clear()

    rows = comparison(first, second)

    assert Row("total", "5", "5") in rows
    assert Row("success", "4", "3") in rows
    assert Row("failed: timeout", "1", "0") in rows
    assert Row("refused: robots", "0", "2") in rows
    assert not Row("total", "5", "5").differs
    assert Row("success", "4", "3").differs
