from dataclasses import replace

from crawler.frontier import UrlCounts
from crawler.portal.figures import RunFigures
from crawler.portal.rendering import sections
from crawler.report.history import History
from crawler.report.reasons import explain_end

#: Ten responses of 0.1 s, then one of 0 s.
SAMPLES = [(0, 0, 0.0, 5), (1, 10, 1.0, 1), (2, 11, 1.0, 0)]


def figures(state):
    summary = {"responses": 11, "latency": {"total": 1.0}}
    history = History(SAMPLES)
    return RunFigures("t", state, "", UrlCounts(), summary=summary, history=history)


def test_the_latency_is_that_of_late_while_a_run_goes_on_and_of_all_of_it_afterwards():
    assert figures("running").latency == 0.0
    assert figures("finished").latency == 1 / 11


def test_a_portal_names_its_button_instead_of_a_command():
    run = replace(figures("finished"), end=explain_end("page_limit"))

    [live] = sections(run, ("status",)).values()
    [portal] = sections(run, ("status",), has_log=True).values()

    assert "set a higher limit, and run the same command to continue" in live
    assert "set a higher limit, and resume this job to continue" in portal
