from crawler.portal.store.alarms import Alarms


def test_an_alarm_is_open_until_somebody_has_seen_it(database):
    alarms = Alarms(database)
    for now in (1.0, 2.0):
        alarms.add("shop 1.0", "the tag has moved", now)

    [alarm] = alarms.open()
    assert alarm.since == 1.0
    alarms.see(alarm.id, who="anna", now=3.0)
    alarms.see(alarm.id, who="bob", now=4.0)

    assert alarms.open() == []
    alarms.add("shop 1.0", "the tag has moved", 5.0)
    assert alarms.open() == []
    [row] = database.rows("SELECT seen_by FROM alarm")
    assert row["seen_by"] == "anna"
