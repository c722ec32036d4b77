from .conftest import value


def test_runs_are_steered(portal, task, program):
    program(f"tasks/{task}/run", "POST")

    assert program("runs/1/pause", "POST").status == 409  # it waits, so nobody answers
    assert value(program("runs/1/stop", "POST"))["state"] == "stopped"
    assert program("runs/1/stop", "POST").status == 409
    assert program("runs/1/restart", "POST").status == 409
    again = value(program("runs/1/resume", "POST"))
    assert (again["id"], again["job"], again["state"]) == (2, 1, "queued")

    done = [row["what"] for row in portal._database.rows("SELECT what FROM audit")]
    assert "asked to stop quotes #1" in done


def test_what_has_failed_is_fetched_again(portal, task, program):
    program(f"tasks/{task}/run", "POST")
    assert program("runs/1/retry-failed", "POST", given={}).status == 409
    program("runs/1/stop", "POST")

    assert program("runs/1/retry-failed", "POST", given={"reason": "--yes"}).status == 422
    assert program("runs/1/retry-failed", "POST", "read", given={}).status == 403
    again = value(program("runs/1/retry-failed", "POST", given={"reason": "http_500"}))

    assert (again["job"], again["state"]) == (1, "queued")
    assert (again["start"], again["reason"]) == ("retry", "http_500")


def test_a_job_starts_over(portal, task, program):
    program(f"tasks/{task}/run", "POST")
    assert program("runs/1/afresh", "POST").status == 409
    program("runs/1/stop", "POST")

    assert program("runs/1/afresh", "POST", "read").status == 403
    again = value(program("runs/1/afresh", "POST"))

    assert (again["job"], again["state"], again["start"]) == (1, "queued", "fresh")
    assert program("runs/1/afresh", "POST").status == 409


def test_a_run_that_waits_has_no_delays(task, program):
    program(f"tasks/{task}/run", "POST")

    good = {"host": "a.test", "seconds": 2}
    assert program("runs/1/delay", "POST", given=good).status == 409
    assert program("runs/1/delay", "POST", "read", given=good).status == 403
    for wrong in ({"host": "a b"}, {"seconds": -1}, {"seconds": "soon"}, {"url": "x"}):
        assert program("runs/1/delay", "POST", given=good | wrong).status == 422
