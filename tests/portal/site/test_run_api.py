from .conftest import value


def test_runs_come_in_pages(task, program):
    for _ in range(5):
        program(f"tasks/{task}/run", "POST")

    first = value(program("runs?most=2"))
    second = value(program(f"runs?most=3&before={first['before']}&task={task}"))

    assert [run["number"] for run in first["runs"]] == [5, 4]
    assert [run["number"] for run in second["runs"]] == [3, 2, 1]
    assert value(program("runs?task=99")) == {"runs": [], "before": 0}


def test_records_come_in_pages(portal, task, program):
    program(f"tasks/{task}/run", "POST")
    folder = portal.path / "runs/1"
    folder.mkdir(parents=True)
    assert value(program("runs/1/records")) == {"records": [], "after": 0}
    (folder / "items.jsonl").write_text('{"n": 1}\n{"n": 2}\n{"n": 3}\n{"n": ')

    first = value(program("runs/1/records?most=2"))
    second = value(program(f"runs/1/records?after={first['after']}"))

    assert first["records"] == [{"n": 1}, {"n": 2}]
    assert second["records"] == [{"n": 3}]  # the last one is being written
    assert value(program("runs/1/records?after=3"))["records"] == []
    assert program("runs/99/records").status == 404


def test_the_records_of_other_formats_are_not_read(portal, task, program):
    program(f"tasks/{task}/run", "POST")
    portal._database.change("UPDATE run SET spec = replace(spec, 'jsonl', 'csv')")

    assert program("runs/1/records").status == 409


def test_a_run_that_waits_has_no_urls_and_no_errors(task, program):
    program(f"tasks/{task}/run", "POST")

    assert value(program("runs/1/errors")) == {"errors": []}
    assert value(program("runs/1/urls?outcome=failed")) == {"urls": [], "after": 0}
