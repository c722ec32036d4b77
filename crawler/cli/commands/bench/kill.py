"""``crawler bench kill``: what a crawl loses when it is killed."""

from __future__ import annotations

from typing import Any

import click

from .options import count_option, exit_by_targets, print_and_save, run_options, show_progress


@click.command()
@count_option("--kills", 300, "The number of kills.")
@click.option(
    "--seed", type=int, default=0, show_default=True, help="The seed of the random moments."
)
@click.option(
    "--cluster", is_flag=True, help="Kill, stop and cut the parts of a cluster: needs the extra."
)
@run_options
def kill(kills: int | None, seed: int, cluster: bool, quick: bool, **output: Any) -> None:
    """Kill a crawl at random moments, continue it, and count what is lost.

    The site has 400 pages, with redirects, retries, robots.txt, errors and duplicates. Each crawl
    writes JSON Lines, CSV, SQLite, Parquet and WARC in a job directory. Some kills are timed to hit
    start-up, recovery, checkpoints and shutdown. The exit code is 5 if a target is missed: a page
    or an exchange is lost or written twice, or the archive cannot be replayed.

    With --cluster, three schedulers crawl a tree of pages on twelve hosts, each page linked once.
    Schedulers are killed, some of them with their disk, and stopped until others have their shards; their
    connections are cut, or nothing passes in one direction; the collector is killed and stopped; the
    server is killed, and loses the end of its append-only file. Every page must have one record.

    Example: crawler bench kill --kills 50 --seed 1
    """
    number = kills or (10 if quick else 300)
    if cluster:
        from ....bench.kill import cluster_faults

        report = cluster_faults.run(number, seed=seed, show_progress=show_progress)
        print_and_save(report, cluster_faults.show(report), **output)
    else:
        from ....bench.kill import kills as benchmark

        report = benchmark.run(number, seed=seed, show_progress=show_progress)
        print_and_save(report, benchmark.show(report), **output)
    exit_by_targets(report)
