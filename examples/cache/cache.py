"""A server of a cache whose keys are sharded over all servers that are there."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import hashlib

from coordinator_server.client import GroupSettings, Membership

cache: dict[str, str] = {}


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bootstrap_servers")
    parser.add_argument("address", help="where this server listens, HOST:PORT")
    parser.add_argument("--group", default="cache")
    options = parser.parse_args()
    host, _, port = options.address.rpartition(":")
    group = GroupSettings(options.group, session_timeout_s=6, heartbeat_interval_s=0.5)
    async with Membership(options.bootstrap_servers, group, options.address) as servers:

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            line = (await reader.readline()).decode().strip()
            writer.write((await answer(servers, options.address, line)).encode() + b"\n")
            await writer.drain()
            writer.close()

        async with await asyncio.start_server(serve, host, int(port)):
            async for members in servers:
                there = sorted(each.metadata for each in members.values())
                print(f"{options.address}: servers are {' '.join(there)}", flush=True)


async def answer(servers: Membership, own: str, line: str) -> str:
    """Answer from the server that has the key."""
    command, key, value = [*line.split(" ", 2), "", ""][:3]
    owner = max((each.metadata for each in servers.members.values()), key=lambda address: score(address, key), default=own)
    if owner != own:
        return await asked(owner, line)
    if command == "SET":
        cache[key] = value
        return "stored"
    return cache.get(key, "unknown")


async def asked(address: str, line: str) -> str:
    """Ask a different server."""
    host, _, port = address.rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(line.encode() + b"\n")
    found = (await reader.readline()).decode().strip()
    writer.close()
    return found


def score(address: str, key: str) -> bytes:
    """Return how much a server wants a key."""
    return hashlib.sha256(f"{address} {key}".encode()).digest()


# ctrl-C ends main, which leaves the group.
with contextlib.suppress(KeyboardInterrupt):
    asyncio.run(main())
