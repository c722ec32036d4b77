import errno
import os
import resource

import pytest

from crawler.fetch.file_descriptors import is_out_of_descriptors, limit, none_left


@pytest.mark.parametrize("code", [errno.EMFILE, errno.ENFILE, errno.ENOBUFS])
def test_the_errors_of_a_process_that_has_reached_its_limit(code):
    assert is_out_of_descriptors(OSError(code, os.strerror(code)))


@pytest.mark.parametrize("error", [OSError(errno.ECONNREFUSED, "refused"), OSError(), ValueError()])
def test_other_errors_say_nothing_about_descriptors(error):
    assert not is_out_of_descriptors(error)


def test_a_process_knows_its_limit_and_whether_it_is_reached():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert limit() == soft
    assert not none_left()

    resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))
    try:
        assert none_left()
        assert limit() == 0
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
