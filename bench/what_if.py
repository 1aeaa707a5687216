"""A week of many groups, and how long ``pipeline what-if`` takes for them: python -m bench.what_if [GROUPS] [ENGINE].

Each group has two to six members on twelve partitions, and is deployed twice: its members restart one after the other. It is
written as segments of the server's, without a server.
"""

from __future__ import annotations

import random
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from coordinator_server.cli import main
from coordinator_server.client.consumer.assignors import RangeAssignor
from coordinator_server.client.consumer.subscription import Subscription, encode_assignment, encode_subscription
from coordinator_server.runtime.partitioner import partition_for
from protocol.batch_builder import BatchBuilder
from protocol.coordinator_records import GROUP_SERDE, CoordinatorRecord
from protocol.messages.group_records import GroupMetadataKey, GroupMetadataValue, MemberMetadata
from protocol.record_batch import Record

SHARDS: Final = 50
START_MS: Final = 1_764_000_000_000
DEPLOYMENTS_MS: Final = (24 * 3_600_000, 96 * 3_600_000)
TOOK_MS: Final = 3_100
AWAY_MS: Final = 8_000


class Written(NamedTuple):
    """A generation as a record."""

    group: str
    at_ms: int
    key: bytes
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]


def lives(groups: int) -> Iterator[Written]:
    """The generations of each group."""
    rng = random.Random(1)
    for number in range(groups):
        group = f"group-{number}"
        members = [f"worker-{place}-{rng.getrandbits(64):x}" for place in range(rng.randint(2, 6))]
        generation = 1
        yield generation_of(group, generation, START_MS, members, members[0], "member-joined")
        for deployed_ms in DEPLOYMENTS_MS:
            at_ms = START_MS + deployed_ms + rng.randrange(3_600_000)
            for place in range(len(members)):
                gone = members[place]
                rest = [each for each in members if each is not gone]
                generation += 1
                yield generation_of(group, generation, at_ms, rest, gone, "member-left")
                members[place] = f"worker-{place}-{rng.getrandbits(64):x}"
                generation += 1
                at_ms += AWAY_MS
                yield generation_of(group, generation, at_ms, members, members[place], "member-joined")
                at_ms += AWAY_MS


def generation_of(group: str, number: int, at_ms: int, members: list[str], whom: str, why: str) -> Written:
    topic = f"topic-{group}"
    wants = {member: Subscription((topic,)) for member in members}
    given = RangeAssignor().assign({topic: 12}, wants)
    value = GroupMetadataValue("consumer", number, "range", members[0], at_ms)
    for member in members:
        data = encode_subscription(wants[member]), encode_assignment(given[member])
        value.members.append(MemberMetadata(member, None, member.rpartition("-")[0], "/10.0.0.1", 60_000, 45_000, *data))
    record = CoordinatorRecord(GroupMetadataKey(group), value)
    headers = (("op1", b"14/5"), ("took", str(TOOK_MS).encode()), ("why", why.encode()), ("whom", whom.encode()))
    return Written(group, at_ms, GROUP_SERDE.encode_key(record), GROUP_SERDE.encode_value(record), headers)


def write(data: Path, groups: int) -> int:
    """Write the log; the number of generations."""
    facts = {"version": 1, "cluster.id": "AAAAAAAAAAAAAAAAAAAAAQ", "node.id": 1, "offsets.topic.num.partitions": SHARDS}
    (data / "meta.properties").write_text("".join(f"{name}={value}\n" for name, value in facts.items()))
    shards: dict[int, list[Written]] = {}
    for each in lives(groups):
        shards.setdefault(partition_for(each.group, SHARDS), []).append(each)
    for shard, records in shards.items():
        records.sort(key=lambda each: each.at_ms)
        directory = data / f"__consumer_offsets-{shard}"
        directory.mkdir()
        with (directory / f"{0:020d}.log").open("wb") as file:
            for offset, each in enumerate(records):
                builder = BatchBuilder(offset, each.at_ms)
                builder.append_record(Record(offset, each.at_ms, each.key, each.value, each.headers))
                file.write(builder.finish())
        (directory / f"{len(records):020d}.log").touch()
    return sum(map(len, shards.values()))


def run(groups: int = 10_000, engine: str = "spark") -> None:
    """Write, and time the job."""
    with tempfile.TemporaryDirectory() as directory:
        data = Path(directory) / "data"
        data.mkdir()
        generations = write(data, groups)
        size = sum(path.stat().st_size for path in data.rglob("*.log"))
        started_s, used_s = time.monotonic(), time.process_time()
        main(["pipeline", "what-if", "--data-dir", str(data), "--out", f"{directory}/out", "--engine", engine])
        seconds, processor_s = time.monotonic() - started_s, time.process_time() - used_s
    of_all = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) / 1024
    print(f"{groups:,} groups, {generations:,} generations, {size:,} bytes: {seconds:.1f} s by the clock")
    print(f"{processor_s:.1f} s of this process's processor time, largest process {of_all:,.0f} MB")


if __name__ == "__main__":
    words = [*sys.argv[1:], *("10000", "spark")[len(sys.argv) - 1 :]]
    run(int(words[0]), words[1])
