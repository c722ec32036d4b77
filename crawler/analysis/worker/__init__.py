"""
The other side of a RemoteAnalyzer: a process that analyses what it is sent.

It is started afresh, not forked: greenlets, connections and databases stay where they are. It
is introduced to a copy of the spider and works on one page after another, until its line
closes. All that passes are frames of JSON and bytes; only the introduction, which comes from
the program and not from the net, is pickled.

    parent                                        child
    ──────────────────────────────────────────────────────────────────────────────────
    introduction                            ──▶
                                            ◀──   ready, or unable
    page, or error                          ──▶
                                            ◀──   found, any number of times
                                            ◀──   fetch, any number of times
    fetched, refused, failed or impossible  ──▶
                                            ◀──   end, and failed if the callback did
    (closes the line)                       ──▶
                                            ◀──   figures of the hooks
"""
