"""The sampling profiler."""

import sys

from crawler.bench.measuring.sampling import Sampler, _stage


def test_a_sample_belongs_to_the_nearest_part_that_has_a_stage():
    assert _stage("crawler.spider.links", "_anchors") == "parse and links"
    assert _stage("crawler.spider.resolve_href", "__call__") == "resolve"
    assert _stage("crawler.frontier.frontier", "admit") == "admit: scope, seen, traps"
    assert _stage("crawler.frontier.admission.scope", "refusal") is None
    assert _stage("crawler.url", "canonicalize") is None


def test_a_sample_of_none_of_our_parts_belongs_to_the_rest():
    sampler = Sampler()

    sampler.take(0, sys._getframe())

    assert sampler.stages == {"rest": 1}
    [(module, _, function)] = sampler.functions
    assert (module, function) == (__name__, sys._getframe().f_code.co_name)
