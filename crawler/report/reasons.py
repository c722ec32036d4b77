"""What each reason to turn a URL away, refuse it or fail means, and which settings change it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Reason:
    """*text* completes the sentence "The URL was refused because …"; *settings* may be empty."""

    text: str
    settings: tuple[str, ...] = ()
    #: What continues with the URL, if anything does.
    remedy: str = ""

    def __str__(self) -> str:
        label = "settings" if len(self.settings) > 1 else "setting"
        named = f" ({label}: {', '.join(self.settings)})" if self.settings else ""
        return f"{self.text}{named}{self.remedy and f'; {self.remedy}'}"


#: What a URL that a job has met can have become.
STATUSES = ("done", "failed", "refused", "turned_away", "pending")
#: How a crawl that has ended early goes on.
AGAIN = "run the same command to continue"
#: These limits are those of the whole job, whatever the number of its runs.
_HIGHER = f"set a higher limit, and {AGAIN}"

#: By the reason of an outcome or of a refusal. The reasons http_NNN are not here: explain() has them.
REASONS = {
    # Not admitted.
    "invalid": Reason("it is not a URL that a browser would follow"),
    "scheme": Reason("only http and https are crawled"),
    "domain": Reason("its domain is not among the accepted ones", ("domains",)),
    "depth": Reason("it is too many links away from a start URL", ("depth",)),
    "length": Reason("it is longer than any usual URL"),
    "include": Reason("it matches none of the include patterns", ("include",)),
    "exclude": Reason("it matches an exclude pattern", ("exclude",)),
    "nofollow": Reason("the page that links to it asks not to follow the link", ("nofollow",)),
    "middleware": Reason("a spider middleware dropped the request"),
    "host_cap": Reason("its host has reached its limit of pages", ("max_pages_per_host",)),
    "link_limit": Reason(
        "its page has more links than are followed of one page", ("max_links_per_page",)
    ),
    "trap_depth": Reason("its path has more segments than the paths of usual sites"),
    "trap_repeat": Reason("its path repeats itself, which is typical of a crawler trap"),
    "trap_calendar": Reason("too many URLs differ from it only in a date"),
    "trap_query": Reason("too many URLs differ from it only in the query"),
    "trap_chain": Reason(
        "it continues a long chain of alike pages, each found on the one before", ("max_chain",)
    ),
    "trap_hosts": Reason(
        "its domain has as many other hosts as are crawled of one", ("max_hosts_per_domain",)
    ),
    # Refused after admission.
    "seen": Reason("it redirects to a URL that the crawl has met before"),
    "robots": Reason("the robots.txt of its host disallows it", ("robots",)),
    "crawl_delay": Reason(
        "the robots.txt of its host asks for a longer Crawl-delay than is obeyed: the host cannot "
        "be crawled in time",
        ("politeness.max_crawl_delay",),
    ),
    "page_limit": Reason("the crawl reached its limit of pages", ("max_pages",), _HIGHER),
    "byte_limit": Reason("the crawl reached its limit of bytes", ("max_bytes",), _HIGHER),
    "time_limit": Reason("the crawl reached its limit of time", ("max_seconds",), AGAIN),
    "error_limit": Reason("the crawl reached its limit of errors", ("max_errors",), _HIGHER),
    "slow": Reason("the crawl was too slow for too long", ("budget.min_rate",), AGAIN),
    "content_type": Reason("a middleware refused its content type"),
    "size": Reason("a middleware refused its size"),
    # Not fetched.
    "host": Reason(
        "its origin (scheme, host and port) failed too often in a row and was given up",
        ("politeness.give_up_after",),
    ),
    "redirect_limit": Reason("it was redirected too often", ("max_redirects",)),
    "redirect_loop": Reason("it was redirected to a URL that it had been redirected from"),
    "dns": Reason("the name of its host could not be resolved"),
    "connect": Reason("no connection to its host could be made"),
    "tls": Reason(
        "the TLS connection failed, or the certificate is not valid", ("verify", "ca_file")
    ),
    "timeout": Reason(
        "the response or a callback took too long",
        ("timeout", "file_timeout", "limits.connect", "limits.stall", "time_limit"),
    ),
    "too_large": Reason(
        "the response is larger than allowed", ("max_body", "max_file", "limits.headers")
    ),
    "truncated": Reason("the connection ended before the body was complete"),
    "protocol": Reason("the response is not valid HTTP"),
    "bad_encoding": Reason("its Content-Encoding could not be decoded"),
    "blocked_address": Reason(
        "its host has a private address", ("allow_private", "allow_addresses")
    ),
    "network": Reason("the network failed during the transfer"),
    "proxy": Reason("the proxy could not be used"),
    "descriptors": Reason("the process ran out of file descriptors"),
    "disk": Reason("the file for its body could not be written"),
    "bad_request": Reason("the request itself is not valid"),
    "download": Reason("the fetch function raised an exception"),
    # Not analysed or not processed.
    "parse": Reason("a callback or a middleware raised an exception"),
    "process": Reason("a pipeline raised an exception"),
    "crashed": Reason("its analysis ended two analyzer processes"),
    "quarantined": Reason("its analysis ended the crawler's process three times"),
    "other_shard": Reason(
        "another scheduler has its host, and cannot save or redirect it for a callback"
    ),
    "damaged": Reason("its row in the state file was damaged"),
}


#: Why a crawl ended; the limits of a whole crawl are in REASONS.
ENDS = {
    "stopped": Reason("it was stopped", remedy=AGAIN),
    "memory_limit": Reason("it reached its limit of memory", ("memory_hard",), AGAIN),
    "disk": Reason("a file could not be written to the disk", remedy=AGAIN),
    "output_closed": Reason("the reader of its output has closed it", remedy=AGAIN),
    "failed": Reason("its job could not be written", remedy=AGAIN),
}


#: What the exit codes of commands mean.
EXITS = {
    0: "the crawl finished or reached a limit, and no page failed",
    1: "some pages failed, or a start page was answered with a status of 400 or more",
    2: "wrong usage",
    3: "the crawl was stopped early: by Ctrl-C, by memory_hard, by a closed output pipe,"
    " or because the question of --fresh was answered with no",
    4: "no start URL was admitted, or all of them were refused",
    5: "a quality gate was not met",
    6: "an error ended the command: -v shows the traceback",
    7: "a callback never returned and was abandoned: run the command again to continue",
    130: "stopped immediately: by a second Ctrl-C",
}


def explain_end(reason: str) -> str:
    """Return why a crawl has ended early, in words; "" if it has finished."""
    known = ENDS.get(reason) or REASONS.get(reason)
    return "" if known is None else f"{reason}: {known}"


def explain(reason: str) -> str:
    """Return what *reason* means and which settings change it; "" if it is not one of ours."""
    status = reason.removeprefix("http_")
    if status != reason and status.isdigit():
        return f"the server answered with status {status}"
    return str(REASONS[reason]) if reason in REASONS else ""
