from hypothesis import given
from hypothesis import strategies as st

from crawler.frontier import UrlCounts
from crawler.report.queue_figures import QueueFigures

NUMBERS = st.integers(0, 10**6)
REASONS = st.dictionaries(st.text(), NUMBERS, max_size=3)


@given(NUMBERS, NUMBERS, REASONS, REASONS, REASONS)
def test_total_is_the_sum_of_the_others(done, pending, failed, refused, away):
    over = done + sum(failed.values()) + sum(refused.values())
    counts = UrlCounts(
        admitted=over + pending,
        pending=pending,
        done=done,
        failed=failed,
        refused=refused,
        turned_away=away,
    )

    queue = QueueFigures.of(counts)

    assert queue.left == pending
    assert queue.total == queue.success + queue.failed + queue.refused + queue.left
    assert queue.to_dict()["total"] == queue.total
