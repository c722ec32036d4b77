"""The loop of Debian's cron daemon: which minutes it starts a job in, when clocks are changed."""

from datetime import UTC, datetime, timedelta

#: Minutes of a change that the daemon takes for summer time; more, and it begins anew.
_MOST = 180
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - times on a wall
_RANGES = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))


class Line:
    """A cron line; one whose minute or hour begins with a star follows the clock on the wall."""

    def __init__(self, text):
        fields = text.split()
        values = [_values(*pair) for pair in zip(fields, _RANGES, strict=True)]
        self.minutes, self.hours, self.days, self.months, weekdays = values
        self.weekdays = {day % 7 for day in weekdays}
        self.is_wild = fields[0].startswith("*") or fields[1].startswith("*")
        self._all = [fields[2].startswith("*"), fields[4].startswith("*")]

    def has(self, wall):
        """Return whether it has the minute *wall*, which is counted from 1970."""
        at = _EPOCH + timedelta(minutes=wall)
        if at.minute not in self.minutes or at.hour not in self.hours:
            return False
        if at.month not in self.months:
            return False
        day, weekday = at.day in self.days, (at.weekday() + 1) % 7 in self.weekdays
        # If both are restricted, one of them is enough.
        return (day and weekday) if any(self._all) else (day or weekday)


def starts(text, zone, first, last):
    """Yield the seconds since 1970 at which the daemon starts the job, from *first* to *last*."""
    line, virtual = Line(text), None
    for now in range(first, last, 60):
        wall = _wall(now, zone)
        if virtual is None:
            virtual = wall - 1
        change = wall - virtual
        if change <= 0 and change > -_MOST:  # the clock went back: what is fixed has run
            if line.is_wild and line.has(wall):
                yield now
            continue
        skipped = range(virtual + 1, wall + 1) if 0 < change <= _MOST else [wall]
        virtual = wall
        if line.has(wall) if line.is_wild else any(map(line.has, skipped)):
            yield now


def _wall(now, zone):
    at = datetime.fromtimestamp(now, UTC).astimezone(zone).replace(tzinfo=None)
    return int((at - _EPOCH).total_seconds()) // 60


def _values(text, limits):
    found = set()
    for part in text.split(","):
        span, _, step = part.partition("/")
        low, _, high = span.partition("-")
        if span == "*":
            low, high = limits
        elif not high:
            high = limits[1] if step else low
        found |= set(range(int(low), int(high) + 1, int(step or 1)))
    return found
