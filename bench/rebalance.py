"""How long a group takes to settle when all of its members come at once, beside a Kafka broker with --kafka.

    python -m bench.rebalance [--kafka] [--ours 'WORDS'] [--rounds 5] [--shape 1x500 --shape 100x5]

A shape is groups x members. Every member has a connection of its own. Time runs from the first JoinGroup to the moment when the last member
has its assignment in the generation that stays, seconds, median of the rounds; the servers take turns. `group.initial.rebalance.delay.ms` is 0
on all of them, as it would otherwise be all that is measured.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import shlex
import statistics
import struct
import time
from typing import NamedTuple

import uvloop

from bench.targets import Address, kafka_broker, this_server
from protocol.codec import decode, encode
from protocol.error_codes import ErrorCode
from protocol.fields import Message
from protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment, SyncGroupResponse
from tests.support.asking import coordinator
from tests.support.client import Client, M, framed, request_header
from tests.support.members import subscription

JOIN, SYNC, HEARTBEAT = 5, 3, 3
HEARTBEAT_EVERY_S = 0.2
RETRY_AFTER_S = 0.05
SETTLES_WITHIN_S = 120
_LENGTH = struct.Struct(">i")
_NOT_YET = {
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
    ErrorCode.REBALANCE_IN_PROGRESS,
}


class Speaker:
    """One connection, one request at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._correlation_id = 0

    async def ask(self, request: Message, version: int, response: type[M]) -> M:
        """Send and wait; for versions that are not flexible."""
        key = request.kafka.key
        assert key is not None
        self._correlation_id += 1
        self._writer.write(framed(request_header(key, version, self._correlation_id, "bench", False) + encode(request, version)))
        (size,) = _LENGTH.unpack(await self._reader.readexactly(4))
        return decode(response, version, (await self._reader.readexactly(size))[4:])

    def close(self) -> None:
        self._writer.close()


class Settled(NamedTuple):
    """A member has its assignment."""

    generation: int
    at: float


class Crowd:
    """The members of one round, and what they know."""

    def __init__(self) -> None:
        self.settled: dict[tuple[str, int], Settled] = {}
        self.newest: dict[str, int] = {}
        self.is_over = False

    def is_settled(self, members: int) -> bool:
        """Everybody is in the newest generation of its group."""
        if len(self.settled) < members:
            return False
        return all(state.generation == self.newest[group] for (group, _), state in self.settled.items())

    async def live(self, speaker: Speaker, group_id: str, number: int) -> None:
        """Join, sync, stay in touch, and again whenever the group rebalances."""
        member_id = ""
        protocol = JoinGroupRequestProtocol(name="range", metadata=subscription("load"))
        while not self.is_over:
            join = JoinGroupRequest(
                group_id=group_id,
                session_timeout_ms=60_000,
                rebalance_timeout_ms=60_000,
                member_id=member_id,
                protocol_type="consumer",
                protocols=[protocol],
            )
            joined = await speaker.ask(join, JOIN, JoinGroupResponse)
            member_id = joined.member_id or member_id
            if joined.error_code in _NOT_YET:
                await asyncio.sleep(RETRY_AFTER_S)
            if joined.error_code != ErrorCode.NONE:
                continue
            share = [SyncGroupRequestAssignment(member_id=one.member_id, assignment=b"share") for one in joined.members]
            sync = SyncGroupRequest(group_id=group_id, generation_id=joined.generation_id, member_id=member_id, assignments=share)
            if (await speaker.ask(sync, SYNC, SyncGroupResponse)).error_code != ErrorCode.NONE:
                continue
            self.newest[group_id] = max(joined.generation_id, self.newest.get(group_id, 0))
            self.settled[group_id, number] = Settled(joined.generation_id, time.perf_counter())
            heartbeat = HeartbeatRequest(group_id=group_id, generation_id=joined.generation_id, member_id=member_id)
            while not self.is_over:
                await asyncio.sleep(HEARTBEAT_EVERY_S)
                if (await speaker.ask(heartbeat, HEARTBEAT, HeartbeatResponse)).error_code != ErrorCode.NONE:
                    break


async def settle(address: Address, groups: list[str], members: int) -> float:
    """Seconds until that many members of each group have settled."""
    with Client(address) as client:
        homes = [coordinator(client, group_id) for group_id in groups]
    speakers = [Speaker(*await asyncio.open_connection(*home)) for home in homes for _ in range(members)]
    crowd = Crowd()
    started = time.perf_counter()
    lives = [asyncio.create_task(crowd.live(speaker, groups[n // members], n)) for n, speaker in enumerate(speakers)]
    try:
        while not crowd.is_settled(len(lives)):
            done, _ = await asyncio.wait(lives, timeout=0.02, return_when=asyncio.FIRST_COMPLETED)
            for life in done:
                life.result()
            if time.perf_counter() - started > SETTLES_WITHIN_S:
                raise SystemExit(f"not settled within {SETTLES_WITHIN_S} s: {len(crowd.settled)} of {len(lives)} members")
        return max(state.at for state in crowd.settled.values()) - started
    finally:
        crowd.is_over = True
        for life in lives:
            life.cancel()
        await asyncio.gather(*lives, return_exceptions=True)
        for speaker in speakers:
            speaker.close()


def main() -> None:
    options = _options()
    with contextlib.ExitStack() as stack:
        servers = {
            f"ours {words}".strip(): stack.enter_context(this_server(shlex.split(words))).address for words in options.ours
        }
        if options.kafka:
            servers["Kafka"] = stack.enter_context(kafka_broker([]))
        for name, address in servers.items():
            uvloop.run(settle(address, [f"warm-{name}"], 5))
        for shape in options.shape:
            groups, members = map(int, shape.split("x"))
            seconds: dict[str, list[float]] = {name: [] for name in servers}
            for number in range(options.rounds):
                for name, address in servers.items():
                    ids = [f"rebalance-{shape}-{number}-{group}" for group in range(groups)]
                    seconds[name].append(uvloop.run(settle(address, ids, members)))
            print(f"\n{groups} groups x {members} members")
            for name, times in seconds.items():
                print(f"  {name:34}{statistics.median(times):8.3f} s   ({', '.join(f'{one:.3f}' for one in times)})", flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench.rebalance", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5, metavar="N")
    parser.add_argument(
        "--shape", action="append", metavar="GxM", help="groups x members; may be repeated; default 1x500 and 100x5"
    )
    parser.add_argument("--ours", action="append", metavar="WORDS", help="this server, started so; may be repeated; default ''")
    parser.add_argument("--kafka", action="store_true", help="run a Kafka 4.3.1 broker beside it (java and mvn)")
    options = parser.parse_args()
    options.shape = options.shape or ["1x500", "100x5"]
    options.ours = options.ours or [""]
    return options


if __name__ == "__main__":
    main()
