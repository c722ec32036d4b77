"""The benchmark of a fetch."""

from crawler._distribution import install_command
from crawler.bench.parts import fetch
from crawler.bench.sites.shape import Shape


def test_without_requests_its_row_is_left_out(monkeypatch):
    monkeypatch.setattr(fetch, "find_spec", lambda _: None)
    first, *_, last = fetch.ROWS
    monkeypatch.setattr(fetch, "_SHAPE", Shape(20))
    monkeypatch.setattr(fetch, "ROWS", {name: fetch.ROWS[name] for name in (first, last)})
    assert "requests" in last

    report = fetch.run(5, 1)

    assert list(report.rows) == [first]
    assert f"{install_command('requests')} to measure it" in fetch.show(report)
