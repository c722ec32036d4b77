from crawler.portal.records import RecentRecords


class Rude:
    def __repr__(self):
        raise RuntimeError("no")


def test_the_last_items_are_kept_and_passed_on():
    records = RecentRecords()

    passed = [records({"n": n}) for n in range(100)]

    assert passed[-1] == {"n": 99}
    assert records.number == 100
    assert len(records.shown()) == 20
    assert records.shown()[0] == [("n", "99")]


def test_what_is_shown_of_an_item_is_bounded():
    records = RecentRecords()
    long = "x" * 10**6
    records({"deep": [[[[[1]]]]] * 10**5} | {f"field{n}" * 100: long for n in range(1000)})

    [shown] = records.shown()

    assert sum(len(name) + len(value) for name, value in shown) < 2000


def test_values_that_cannot_be_shown_are_named_by_type():
    records = RecentRecords()
    records({"a": Rude(), "b": 10**5000})

    names = [value for _, value in records.shown()[0]]

    assert names[0] == "<Rude>" or "Rude" in names[0]
    assert len(names) == 2
