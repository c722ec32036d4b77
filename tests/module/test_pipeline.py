import dataclasses

import gevent
import pytest
from gevent.event import Event

from crawler.data import Item, Request
from crawler.errors import DropItem, PipelineError, Unfinished
from crawler.module import Pipeline

REQUEST = Request("http://site.test/")


@dataclasses.dataclass
class Product:
    name: str


def item(**values):
    return Item(values or {"steps": []}, REQUEST)


def step(number):
    def process(value):
        return {"steps": [*value["steps"], number]}

    return process


def fail(value):
    raise ValueError("cannot process")


def drop(value):
    raise DropItem("too cheap")


def test_processors_run_in_order_each_on_the_result_of_the_one_before():
    pipeline = Pipeline(*[step(number) for number in range(12)])

    kept = pipeline.send(item())

    assert kept == Item({"steps": list(range(12))}, REQUEST)
    assert kept.request is REQUEST
    assert repr(pipeline) == f"<Pipeline {pipeline.mid}, 0 handling, 1/1 completed>"


def test_the_item_that_was_sent_stays_as_it_was():
    sent = item()

    Pipeline(step(1)).send(sent)

    assert sent.value == {"steps": []}


def test_a_pipeline_without_processors_keeps_every_item():
    pipeline = Pipeline()
    sent = item(name="lamp")

    assert pipeline.send(sent) == sent
    assert pipeline.counts.completed == 1


@pytest.mark.parametrize("processor", [None, 5, "process", [step(1)]])
def test_a_processor_that_is_not_a_function_is_refused_with_its_number(processor):
    with pytest.raises(ValueError, match="processor 1 must be a function of an item"):
        Pipeline(step(0), processor)


def test_a_processor_may_return_a_dataclass():
    kept = Pipeline(lambda value: Product(value["name"])).send(item(name="lamp"))

    assert kept.value == Product("lamp")


# -- dropping ---------------------------------------------------------------------------------


def test_a_dropped_item_is_counted_separately_and_processed_no_further():
    seen = []
    pipeline = Pipeline(step(1), drop, seen.append)

    assert pipeline.send(item()) is None

    assert seen == []
    assert pipeline.counts.dropped == 1
    assert (pipeline.counts.called, pipeline.counts.completed) == (1, 1)
    assert pipeline.counts.failing == 0


def test_dropping_after_a_failure_does_not_hide_the_failure():
    pipeline = Pipeline(fail, drop)

    with pytest.raises(PipelineError, match="cannot process"):
        pipeline.send(item())

    assert pipeline.counts.dropped == 0
    assert pipeline.counts.completed == 0


def test_an_item_dropped_after_the_counts_were_cleared_belongs_to_the_old_counts():
    go = Event()

    def wait_and_drop(value):
        go.wait(timeout=120)
        raise DropItem

    pipeline = Pipeline(wait_and_drop)
    call = gevent.spawn(pipeline.send, item())
    gevent.idle()

    pipeline.clear()
    go.set()

    assert call.get(timeout=120) is None
    assert (pipeline.counts.called, pipeline.counts.dropped) == (0, 0)


# -- failing ----------------------------------------------------------------------------------


def test_when_one_fails_the_next_gets_the_last_good_value():
    seen = []

    def look(value):
        seen.append(value)
        return value

    pipeline = Pipeline(step(1), fail, look, step(2), fail, look)

    with pytest.raises(PipelineError):
        pipeline.send(item())

    assert seen == [{"steps": [1]}, {"steps": [1, 2]}]
    assert pipeline.counts.completed == 0


@pytest.mark.parametrize("error", [SystemExit(1), gevent.Timeout(1), MemoryError()])
def test_after_any_exception_the_next_processor_runs(error):
    def fail_hard(value):
        raise error

    seen = []
    pipeline = Pipeline(fail, fail_hard, lambda value: seen.append(value) or value)

    with pytest.raises(PipelineError) as caught:
        pipeline.send(item())

    assert seen == [{"steps": []}]
    assert [type(failure) for failure in caught.value.__cause__.exceptions] == [
        ValueError,
        type(error),
    ]


@pytest.mark.parametrize("end", [gevent.GreenletExit, KeyboardInterrupt])
def test_the_end_of_the_greenlet_ends_the_item_there(end):
    def be_ended(value):
        raise end

    seen = []
    pipeline = Pipeline(fail, be_ended, seen.append)

    with pytest.raises(end):
        pipeline.send(item())

    assert seen == []
    assert pipeline.counts.handling == 0


def test_all_failures_are_reported_together():
    processors = [fail if number % 3 == 0 else step(number) for number in range(12)]

    with pytest.raises(PipelineError) as caught:
        Pipeline(*processors).send(item())

    assert isinstance(caught.value.__cause__, ExceptionGroup)
    assert len(caught.value.__cause__.exceptions) == 4
    assert caught.value.request is REQUEST


def test_fail_fast_ends_the_item_at_the_first_failure():
    seen = []
    pipeline = Pipeline(step(1), fail, fail, seen.append, fail_fast=True)

    with pytest.raises(PipelineError) as caught:
        pipeline.send(item())

    assert isinstance(caught.value.__cause__, ValueError)
    assert seen == []


def test_fail_fast_can_be_changed_between_items():
    pipeline = Pipeline(fail, fail)

    causes = []
    for fail_fast in (False, True, False):
        pipeline.fail_fast = fail_fast
        with pytest.raises(PipelineError) as caught:
            pipeline.send(item())
        causes.append(type(caught.value.__cause__))

    assert causes == [ExceptionGroup, ValueError, ExceptionGroup]


@pytest.mark.parametrize("result", [None, 5, "lamp", ["lamp"], REQUEST, item(), Product])
def test_a_result_that_is_not_an_item_is_an_error_that_names_the_function(result):
    seen = []

    def forget_to_return(value):
        return result

    pipeline = Pipeline(forget_to_return, lambda value: seen.append(value) or value)

    with pytest.raises(PipelineError, match="forget_to_return returned") as caught:
        pipeline.send(item())

    assert isinstance(caught.value.__cause__, TypeError)
    assert "or raise DropItem" in caught.value.reason
    assert seen == [{"steps": []}]
    assert pipeline.counts.completed == 0


# -- summary ----------------------------------------------------------------------------------


@pytest.mark.parametrize("fail_fast", [True, False])
def test_the_summary_has_the_figures_of_a_pipeline(fail_fast):
    pipeline = Pipeline(step(1), drop, fail_fast=fail_fast)
    pipeline.send(item())

    summary = pipeline.summary()

    assert summary.extra == {"fail_fast": fail_fast, "processor_number": 2, "dropped": 1}


def test_nothing_more_is_done_to_an_item_that_cannot_be_finished_now():
    later = []

    def put_off(value):
        raise Unfinished("the disk is full")

    with pytest.raises(PipelineError) as caught:
        Pipeline(put_off, later.append).send(item())

    assert isinstance(caught.value.__cause__, Unfinished)
    assert later == []
