"""
The worker process of a RemoteAnalyzer: it analyses the pages that it is sent.

It is started afresh, not forked: greenlets, connections and databases stay in the parent. It
gets a copy of the spider with the greeting and works on one page after another, until its socket
closes. All messages are frames of JSON and bytes; only the spider in the greeting, which comes
from the program and not from the network, is pickled.

    parent                                        worker
    ──────────────────────────────────────────────────────────────────────────────────
    greeting                                ──▶
                                            ◀──   ready, or unable
    page, or error                          ──▶
                                            ◀──   found, any number of times
                                            ◀──   fetch, any number of times
    fetched, refused, failed or impossible  ──▶
                                            ◀──   end, and failed if the callback did
    (closes the socket)                     ──▶
                                            ◀──   figures of the hooks
                                            ◀──   log and printed, at any moment
"""
