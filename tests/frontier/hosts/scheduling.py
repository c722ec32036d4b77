"""Steps of a schedule, as the frontier takes them."""

from crawler.data import Request

EXACT = {"jitter": 0.0, "latency_factor": 0.0}


def request(host, n=0, **rest):
    return Request(f"http://{host}/{n}", **rest)


def begin(hosts, now):
    """Take what is due now, as the frontier does."""
    host = hosts.ready(now)
    if host is None:
        return None
    taken = hosts.pull(host)
    hosts.begin(host, now)
    return host, taken


def unpark(hosts, host, now):
    host.parked = ""
    hosts.schedule(host, now)


def drain(hosts, host, now):
    """Take out all that waits, as HostQueues does."""
    host.release_retries(lambda _: True)
    drained = [hosts.pull(host) for _ in range(host.queue.size)]
    hosts.schedule(host, now)
    return drained


def filled(hosts, name, number, now=0.0, **rest):
    host = hosts.table.find_or_add(name)
    for n in range(number):
        hosts.put(host, request(name, n, **rest), now)
    return host


def entries(hosts):
    return len(hosts._due._resting) + len(hosts._due._ready) + len(hosts.table._idle)
