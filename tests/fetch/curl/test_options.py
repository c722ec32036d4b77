import pycurl
import pytest

from crawler.fetch import Limits
from crawler.fetch.curl.options import milliseconds, tls_options, transfer_options


def test_every_option_is_one_that_libcurl_takes():
    options = transfer_options(Limits(), None) | tls_options(verify=True, ca_file=None)
    easy = pycurl.Curl()
    try:
        for option, value in options.items():
            easy.setopt(option, value)
    finally:
        easy.close()


def test_limits_are_in_the_units_of_libcurl():
    options = transfer_options(Limits(connect=1.5, total=2.0, stall=0.2, body=77), "mine/1")

    assert options[pycurl.CONNECTTIMEOUT_MS] == 1500
    assert options[pycurl.TIMEOUT_MS] == 2000
    assert options[pycurl.LOW_SPEED_TIME] == 1
    assert options[pycurl.MAXFILESIZE_LARGE] == 77
    assert options[pycurl.USERAGENT] == "mine/1"


def test_certificates_of_the_user_replace_those_of_the_system(tmp_path):
    ca_file = tmp_path / "ca.pem"

    assert tls_options(verify=True, ca_file=ca_file) == {pycurl.CAINFO: str(ca_file)}
    assert tls_options(verify=False, ca_file=ca_file) == {
        pycurl.SSL_VERIFYPEER: 0,
        pycurl.SSL_VERIFYHOST: 0,
    }


@pytest.mark.parametrize(("seconds", "expected"), [(1, 1000), (0.25, 250), (0.0001, 1)])
def test_a_time_is_never_rounded_to_nothing(seconds, expected):
    assert milliseconds(seconds) == expected
