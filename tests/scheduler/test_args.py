import dataclasses

import pytest

from crawler.module import Analyzer, Downloader, Pipeline
from crawler.scheduler import DataArgs, ModuleArgs, RequestArgs
from crawler.testing import Site

D, A, P = Downloader(Site({})), Analyzer(lambda response: []), Pipeline()


def test_request_args_have_defaults_and_accept_an_empty_list_of_domains():
    assert RequestArgs() == RequestArgs([], 0)
    assert RequestArgs().accepted_domains == ()


@pytest.mark.parametrize("domains", [None, "example.org", 7, [None], [""], ["http://a.test/"]])
def test_request_args_refuse_what_is_not_a_list_of_domains(domains):
    with pytest.raises(ValueError, match="domain"):
        RequestArgs(domains)


@pytest.mark.parametrize("depth", [-1, 1.5, "1", True])
def test_request_args_refuse_an_invalid_depth(depth):
    with pytest.raises(ValueError, match="max_depth"):
        RequestArgs(max_depth=depth)


@pytest.mark.parametrize(
    ("other", "same"),
    [
        (RequestArgs(["a.test", "b.test"], 3), True),
        (RequestArgs(("b.test", "a.test"), 3), True),
        (RequestArgs(["A.TEST.", "b.test", "a.test"], 3), True),
        (RequestArgs((d for d in ("a.test", "b.test")), 3), True),
        (RequestArgs(["a.test", "b.test"], 2), False),
        (RequestArgs(["a.test", "b.test"], None), False),
        (RequestArgs(["a.test"], 3), False),
        (RequestArgs(["a.test", "b.test", "c.test"], 3), False),
        (RequestArgs([], 3), False),
        (None, False),
    ],
)
def test_request_args_are_equal_when_they_mean_the_same(other, same):
    assert (RequestArgs(["a.test", "b.test"], 3) == other) is same


def test_request_args_keep_what_a_generator_gave():
    args = RequestArgs(domain for domain in ["a.test"])

    assert args.accepted_domains == ("a.test",)
    assert args.scope.refusal("http://a.test/", 0) is None


@pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(DataArgs)])
@pytest.mark.parametrize("size", [0, -1, 1.5, "1", True, None])
def test_data_args_refuse_each_wrong_size_by_its_name(name, size):
    with pytest.raises(ValueError, match=f"{name} must be a whole number of at least 1"):
        DataArgs(**{name: size})


def test_data_args_are_eight_sizes():
    assert len(dataclasses.fields(DataArgs)) == 8
    assert DataArgs(*range(1, 9)) == DataArgs(*range(1, 9)) != DataArgs()


LISTS = {"downloaders": [D], "analyzers": [A], "pipelines": [P]}


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("wrong", [[], None, (), iter([D]), 7])
def test_module_args_refuse_each_empty_list_by_its_name(name, wrong):
    with pytest.raises(ValueError, match=f"{name} must be a list of at least one"):
        ModuleArgs(**(LISTS | {name: wrong}))


@pytest.mark.parametrize(
    ("name", "good", "wrong"),
    [("downloaders", D, A), ("analyzers", A, P), ("pipelines", P, None)],
)
def test_module_args_name_the_element_that_is_of_the_wrong_kind(name, good, wrong):
    with pytest.raises(ValueError, match=rf"{name}\[1\] must be a"):
        ModuleArgs(**(LISTS | {name: [good, wrong]}))


def test_module_args_refuse_two_modules_with_one_id():
    twins = [Downloader(Site({}), mid="D7"), Downloader(Site({}), mid="D7")]

    with pytest.raises(ValueError, match="two modules with the id D7"):
        ModuleArgs(twins, [A], [P])
    with pytest.raises(ValueError, match="two modules"):
        ModuleArgs([D], [A], [P, P])


@pytest.mark.parametrize("name", ["download_workers", "analyze_workers", "pipeline_workers"])
@pytest.mark.parametrize("number", [0, -1, 2.0, True, None])
def test_module_args_refuse_each_wrong_number_of_workers_by_its_name(name, number):
    with pytest.raises(ValueError, match=f"{name} must be a whole number of at least 1"):
        ModuleArgs([D], [A], [P], **{name: number})


@pytest.mark.parametrize("limit", [0, -1, float("nan"), None, "5"])
def test_module_args_refuse_a_time_limit_that_is_none(limit):
    with pytest.raises(ValueError, match="time_limit must be more than 0 seconds"):
        ModuleArgs([D], [A], [P], time_limit=limit)


def test_module_args_do_not_change_with_the_list_they_were_given():
    downloaders = [D]
    args = ModuleArgs(downloaders, [A], [P])

    downloaders.clear()

    assert args.modules == [D, A, P]


@pytest.mark.parametrize("args", [RequestArgs(), DataArgs(), ModuleArgs([D], [A], [P])])
def test_arguments_are_frozen(args):
    name = dataclasses.fields(args)[0].name

    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(args, name, None)
