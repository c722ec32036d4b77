import dataclasses
import random

import gevent
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.module import MID, Address, Analyzer, Downloader, Pipeline, SerialNumbers
from crawler.module.mid import LETTERS

LAST = 2**64 - 1

addresses = st.builds(Address, st.ip_addresses().map(str), st.integers(1, 65535))
mids = st.builds(MID, st.sampled_from("DAP"), st.integers(0, LAST), st.none() | addresses)


# -- addresses --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "ip", "port"),
    [
        ("127.0.0.1:8080", "127.0.0.1", 8080),
        ("10.0.0.5:1", "10.0.0.5", 1),
        ("[::1]:65535", "::1", 65535),
        ("[2001:db8::5]:9000", "2001:db8::5", 9000),
    ],
)
def test_an_address_is_an_ip_and_a_port(text, ip, port):
    address = Address.parse(text)

    assert address == Address(ip, port)
    assert str(address) == text


@pytest.mark.parametrize("ip", ["2001:DB8:0:0::5", "2001:0db8::0005", "2001:db8:0:0:0:0:0:5"])
def test_spellings_of_one_ip_are_one_address(ip):
    assert Address(ip, 9000) == Address("2001:db8::5", 9000)
    assert Address.parse(f"[{ip}]:9000") == Address("2001:db8::5", 9000)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "illegal module address: '' is not ip:port"),
        ("127.0.0.1", "illegal module address: '127.0.0.1' is not ip:port"),
        (":8080", "illegal module address: ':8080' is not ip:port"),
        ("127.0.0.1:", "illegal module port: '' is not a number"),
        ("127.0.0.1:-1", "illegal module port: '-1' is not a number"),
        ("127.0.0.1:x", "illegal module port: 'x' is not a number"),
        ("127.0.0.1:080", "illegal module port: '080' is not a number"),
        ("127.0.0.1:٨٠", "illegal module port"),
        ("127.0.0.1:80 ", "illegal module port"),
        ("127.0.0.1:0", "illegal module port: 0 is not in 1..65535"),
        ("127.0.0.1:65536", "illegal module port: 65536 is not in 1..65535"),
        ("127.0.0.1:99999999999999999999999", "illegal module port"),
        ("127.0.0:80", "illegal module IP: '127.0.0'"),
        ("127.0.0.0.1:80", "illegal module IP: '127.0.0.0.1'"),
        ("127.0.0.256:80", "illegal module IP: '127.0.0.256'"),
        ("localhost:80", "illegal module IP: 'localhost'"),
        ("[::1]", "illegal module port"),
        ("::1:80", "illegal module IP: '::1' (only IPv6 is written in brackets)"),
        ("[127.0.0.1]:80", "illegal module IP: '[127.0.0.1]' (only IPv6"),
        ("[::1:80", "illegal module IP"),
        ("[]:80", "illegal module IP"),
    ],
)
def test_an_invalid_address_is_refused_with_its_reason(text, complaint):
    with pytest.raises(ValueError) as refusal:
        Address.parse(text)

    assert str(refusal.value).startswith(complaint)


@pytest.mark.parametrize("port", [0, -1, 65536, 2**64])
def test_a_port_has_its_limits_however_it_is_given(port):
    with pytest.raises(ValueError, match=r"is not in 1\.\.65535"):
        Address("127.0.0.1", port)


# -- ids --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "mid"),
    [
        ("D1", MID("D", 1)),
        ("A0", MID("A", 0)),
        ("P18446744073709551615", MID("P", LAST)),
        ("D7|10.0.0.5:9000", MID("D", 7, Address("10.0.0.5", 9000))),
        ("P7|[::1]:9000", MID("P", 7, Address("::1", 9000))),
    ],
)
def test_an_id_is_a_letter_a_number_and_perhaps_an_address(text, mid):
    assert MID.parse(text) == mid
    assert str(mid) == text


@given(mids)
def test_the_printed_form_of_an_id_parses_to_the_same_id(mid):
    assert MID.parse(str(mid)) == mid
    assert hash(MID.parse(str(mid))) == hash(mid)


@given(st.text() | st.text(alphabet="DAP0123456789|.:[]-"))
def test_any_text_is_an_id_printed_the_same_or_a_value_error(text):
    try:
        mid = MID.parse(text)
    except ValueError:
        return

    assert MID.parse(str(mid)) == mid


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "illegal module id: '' is not a letter and a number"),
        ("D", "illegal module id: 'D'"),
        ("1", "illegal module id: '1'"),
        ("|", "illegal module id: '|'"),
        ("D|127.0.0.1:80", "illegal module id: 'D|127.0.0.1:80'"),
        ("DA", "illegal module serial number: 'A' in 'DA'"),
        ("D1A", "illegal module serial number: '1A'"),
        ("D-1", "illegal module serial number: '-1'"),
        ("D+1", "illegal module serial number: '+1'"),
        ("D 1", "illegal module serial number: ' 1'"),
        ("D1\n", "illegal module serial number"),
        ("D1.0", "illegal module serial number: '1.0'"),
        ("D1_0", "illegal module serial number: '1_0'"),
        ("D٣", "illegal module serial number"),
        # otherwise "D7" and "D007" would be two ids of one module
        ("D007", "illegal module serial number: '007'"),
        ("D18446744073709551616", "illegal module serial number: 18446744073709551616"),
        ("D" + "9" * 5000, "illegal module serial number"),
        ("M1", "illegal module letter: 'M' is not one of D, A, P"),
        ("d1", "illegal module letter: 'd'"),
        ("Д1", "illegal module letter: 'Д'"),
        ("D1|", "illegal module address: '' is not ip:port"),
        ("D1|127.0.0.1", "illegal module address"),
        ("D1|127.0.0.1:", "illegal module port"),
        ("D1|127.0.0.1:-1", "illegal module port"),
        ("D1|127.0.0.1:99999999", "illegal module port: 99999999 is not in 1..65535"),
        ("D1|127.0.0:80", "illegal module IP"),
        ("D1|127.0.0.0.1:80", "illegal module IP"),
        ("D1|::1:80", "illegal module IP"),
        ("D1||127.0.0.1:80", "illegal module IP"),
        ("D1|127.0.0.1:80|", "illegal module port"),
    ],
)
def test_an_invalid_id_is_refused_with_its_reason(text, complaint):
    with pytest.raises(ValueError) as refusal:
        MID.parse(text)

    assert str(refusal.value).startswith(complaint)


@pytest.mark.parametrize("letter", ["", "M", "d", "downloader", "DA"])
def test_an_unknown_letter_is_refused(letter):
    with pytest.raises(ValueError, match="illegal module letter"):
        MID(letter, 1)


@pytest.mark.parametrize("serial", [-1, LAST + 1])
def test_a_serial_number_out_of_range_is_refused(serial):
    with pytest.raises(ValueError, match="illegal module serial number"):
        MID("D", serial)


def test_each_kind_of_module_has_the_letter_of_its_name():
    kinds = {cls.letter: cls.__name__.lower() for cls in (Downloader, Analyzer, Pipeline)}

    assert kinds == LETTERS == {"D": "downloader", "A": "analyzer", "P": "pipeline"}


def test_an_id_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        MID("D", 1).serial = 2


def test_ids_sort_by_kind_then_by_number_as_people_count():
    ordered = ["D1", "D1|10.0.0.1:80", "D2", "D10", "D10|[::1]:80", "A3", "P1"]
    shuffled = random.Random(7).sample(ordered, len(ordered))

    assert [str(mid) for mid in sorted(map(MID.parse, shuffled))] == ordered


def test_an_address_can_be_that_of_a_child_process():
    mid = MID.parse("A2|local:1")

    assert (str(mid), mid.address) == ("A2|local:1", Address("local", 1))
    assert mid < MID.parse("A3|local:1")
    with pytest.raises(ValueError, match="illegal module IP"):
        MID.parse("A2|locale:1")


@given(mids, mids)
def test_any_two_ids_are_in_one_order(one, other):
    assert (one < other) + (one == other) + (one > other) == 1
    assert (one <= other) == (not one > other)


# -- serial numbers ---------------------------------------------------------------------------


def test_serial_numbers_start_at_one_and_go_as_far_as_64_bits_do():
    numbers = SerialNumbers()

    assert (numbers.start, numbers.last, numbers.next, numbers.cycles) == (1, LAST, 1, 0)
    assert [numbers.take() for _ in range(3)] == [1, 2, 3]


@given(st.integers(0, 1000), st.integers(0, 30), st.integers(1, 200))
def test_serial_numbers_go_round_and_count_their_rounds(start, span, takes):
    numbers = SerialNumbers(start, start + span)

    for n in range(takes):
        assert numbers.next == start + n % (span + 1)
        assert numbers.take() == start + n % (span + 1)
        assert numbers.cycles == (n + 1) // (span + 1)


def test_the_largest_number_is_given_out_before_the_first_comes_again():
    numbers = SerialNumbers(LAST - 1)

    assert [numbers.take() for _ in range(3)] == [LAST - 1, LAST, LAST - 1]
    assert numbers.cycles == 1


@pytest.mark.parametrize(("start", "last"), [(2, 1), (-1, 5), (0, LAST + 1), (LAST + 1, LAST + 2)])
def test_serial_numbers_that_lead_nowhere_are_refused(start, last):
    with pytest.raises(ValueError, match=f"cannot go from {start} to {last}"):
        SerialNumbers(start, last)


def test_greenlets_never_get_the_same_number():
    numbers = SerialNumbers()
    taken = []

    def take():
        for _ in range(100):
            taken.append(numbers.take())
            gevent.sleep(0)

    gevent.joinall([gevent.spawn(take) for _ in range(20)], timeout=120, raise_error=True)

    assert sorted(taken) == list(range(1, 2001))


def test_serial_numbers_print_where_they_are():
    numbers = SerialNumbers(1, 2)
    for _ in range(3):
        numbers.take()

    assert repr(numbers) == "<SerialNumbers 1..2, next 2, 1 cycles>"
