from crawler.frontier.admission.recent_numbers import RecentNumbers


def test_names_are_counted():
    numbers = RecentNumbers(10)

    assert [numbers.add(name) for name in "abaacb"] == [1, 1, 2, 3, 1, 2]


def test_the_smallest_number_is_kept():
    numbers = RecentNumbers(10)

    assert [numbers.least("a", number) for number in (5, 7, 3, 9)] == [5, 5, 3, 3]
    assert numbers.least("b", 8) == 8


def test_a_number_can_be_read():
    numbers = RecentNumbers(4)
    for name in "abcd":
        numbers.add(name)

    assert (numbers.get("a"), numbers.get("d"), numbers.get("x")) == (1, 1, None)


def test_only_the_names_used_last_are_kept():
    numbers = RecentNumbers(100)
    for n in range(10_000):
        numbers.add(f"once {n}")
        if n % 10 == 0:
            numbers.add("often")

    assert numbers.add("often") == 1001
    assert numbers.add("once 0") == 1
    assert len(numbers) <= 100
