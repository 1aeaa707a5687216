"""Crawl sites together with other workers."""

from __future__ import annotations

import argparse
import asyncio
import contextlib

from coordinator_server.client import GroupSettings, MembershipLost, RetriableError, WorkSharing


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bootstrap_servers")
    parser.add_argument("sites", nargs="+")
    parser.add_argument("--name", default="worker")
    parser.add_argument("--group", default="crawler")
    options = parser.parse_args()
    group = GroupSettings(options.group, session_timeout_s=2, heartbeat_interval_s=0.3)
    tasks: dict[str, asyncio.Task[None]] = {}
    async with WorkSharing(options.bootstrap_servers, group, options.sites) as work:
        async for share in work:
            for site in share.revoked:
                tasks.pop(site).cancel()
            for site, last in share.assigned.items():
                tasks[site] = asyncio.create_task(crawl(work, options.name, site, last.value + 1 if last else 1))


async def crawl(work: WorkSharing, name: str, site: str, page: int) -> None:
    """Crawl a site from a page on, until it belongs to another worker."""
    while True:
        # A crawler would fetch the page here.
        await asyncio.sleep(0.5)
        try:
            await work.checkpoint(site, page)
        except MembershipLost:
            return
        except RetriableError:
            # The coordinator is away: nobody knows how far this worker has come, so crawl the page again.
            continue
        print(f"{name}: {site} page {page}", flush=True)
        page += 1


# ctrl-C ends main, which leaves the group.
with contextlib.suppress(KeyboardInterrupt):
    asyncio.run(main())
