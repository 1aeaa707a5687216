"""A job that one of several machines runs, every few seconds."""

from __future__ import annotations

import argparse
import asyncio
import contextlib

from coordinator_server.client import Election, ElectionSettings, MembershipLost, Term


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bootstrap_servers")
    parser.add_argument("--name", default="scheduler")
    parser.add_argument("--every", type=float, default=60, metavar="SECONDS")
    parser.add_argument("--group", default="cron")
    options = parser.parse_args()
    settings = ElectionSettings(options.group, candidate=options.name, session_timeout_s=2)
    async with Election(options.bootstrap_servers, settings) as election:
        async for term in election:
            async with term:
                await run_schedule(term, options.name, options.every)


async def run_schedule(term: Term, name: str, every_s: float) -> None:
    """Run the job until the term is over; the last run is saved for the next leader."""
    run = int(term.saved or "0")
    while True:
        run += 1
        # The job: give the token to what it writes to.
        print(f"{name}: run {run} (token {term.token})", flush=True)
        try:
            await term.save(str(run))
        except MembershipLost:
            return
        await asyncio.sleep(every_s)


# ctrl-C ends main, which leaves the group.
with contextlib.suppress(KeyboardInterrupt):
    asyncio.run(main())
