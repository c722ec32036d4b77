from crawler.frontier import UrlCounts
from crawler.portal.figures import RunFigures
from crawler.report.history import History

#: Ten responses of 0.1 s, then one of 0 s.
SAMPLES = [(0, 0, 0.0, 5), (1, 10, 1.0, 1), (2, 11, 1.0, 0)]


def figures(state):
    summary = {"responses": 11, "latency": {"total": 1.0}}
    history = History(SAMPLES)
    return RunFigures("t", state, "", UrlCounts(), summary=summary, history=history)


def test_the_latency_is_that_of_late_while_a_run_goes_on_and_of_all_of_it_afterwards():
    assert figures("running").latency == 0.0
    assert figures("finished").latency == 1 / 11
