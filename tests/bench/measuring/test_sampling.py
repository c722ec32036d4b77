"""The sampling profiler."""

import sys
from importlib import import_module
from pkgutil import resolve_name

import pytest

from crawler.bench.measuring.sampling import STAGES, Sampler, _stage

#: The class that has the methods of a module.
CLASSES = {"crawler.frontier.frontier": "Frontier", "crawler.data": "Response"}


@pytest.mark.parametrize("name", STAGES)
def test_every_stage_names_code_that_exists(name):
    module, _, method = name.partition(":")

    assert import_module(module)
    assert not method or resolve_name(f"{module}:{CLASSES[module]}.{method}")


def test_a_sample_belongs_to_the_innermost_part_that_has_a_stage():
    assert _stage("crawler.spider.links", "_anchors") == "parse and links"
    assert _stage("crawler.spider.resolve_href", "__call__") == "resolve"
    assert _stage("crawler.frontier.frontier", "admit") == "admit: scope, seen, traps"
    assert _stage("crawler.frontier.admission.scope", "refusal") is None
    assert _stage("crawler.url", "canonicalize") is None


def test_a_sample_outside_of_our_parts_belongs_to_the_rest():
    sampler = Sampler()

    sampler.take(0, sys._getframe())

    assert sampler.stages == {"rest": 1}
    [(module, _, function)] = sampler.functions
    assert (module, function) == (__name__, sys._getframe().f_code.co_name)
