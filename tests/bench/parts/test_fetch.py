"""The benchmark of a fetch."""

from crawler._distribution import install_command
from crawler.bench.parts import fetch


def test_without_requests_its_row_is_left_out(monkeypatch):
    monkeypatch.setattr(fetch, "find_spec", lambda _: None)
    monkeypatch.setattr(fetch, "CONCURRENCY", 2)

    report = fetch.run(5, 1)

    assert list(report.rows) == [name for name in fetch.ROWS if "requests" not in name]
    assert f"{install_command('requests')} to measure it" in fetch.show(report)
