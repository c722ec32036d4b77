from crawler.frontier.admission.domain_hosts import DomainHosts


def let_in(hosts, *names):
    return [name for name in names if hosts.add(name)]


def test_a_domain_has_so_many_hosts_besides_itself_and_www():
    hosts = DomainHosts(2)

    assert let_in(hosts, "example.org", "a.example.org", "www.example.org", "b.example.org")
    assert not hosts.add("c.example.org")
    assert not hosts.add("deep.a.example.org")
    known = ("example.org", "a.example.org", "b.example.org", "www.example.org")
    assert let_in(hosts, *known) == list(known)


def test_domains_are_counted_one_by_one():
    hosts = DomainHosts(1)

    assert hosts.add("a.example.org")
    assert hosts.add("a.example.com")
    assert not hosts.add("b.example.org")


def test_hosts_below_a_public_suffix_and_addresses_are_domains_of_their_own():
    hosts = DomainHosts(1)
    names = [f"user{n}.github.io" for n in range(5)] + [f"10.0.0.{n}" for n in range(5)]

    assert let_in(hosts, *names) == names
    assert not hosts._hosts
