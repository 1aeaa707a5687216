"""A directory that follows a cluster becomes a server's, also after an interruption."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from msgspec.structs import replace

from coordinator_server.log.meta import read_meta, write_meta
from coordinator_server.log.opening import job_shards
from coordinator_server.log.shards import Append, ShardId
from coordinator_server.log.storage import LOCAL
from coordinator_server.log.store import Meta
from coordinator_server.observe.dense import dense
from coordinator_server.observe.directory import ObservedDirectory
from coordinator_server.pipeline.errors import CannotRun
from coordinator_server.pipeline.files.kafka.importer import ImportResult
from coordinator_server.pipeline.files.kafka.promoter import promote
from coordinator_server.pipeline.progress import Progress
from coordinator_server.pipeline.replay.shard_states import replay
from protocol.batch_builder import BatchBuilder
from tests.support.segments import START_MS, offset_key, offset_value

SHARD = ShardId("__consumer_offsets", 0)
META = Meta("theirs", 1, {"__consumer_offsets": 1}, is_observed=True)


def commit(at: int, offset: int, *, group: str = "g", producer: int = -1) -> bytes:
    given = {"producer_id": producer, "producer_epoch": 0, "attributes": 0x10} if producer >= 0 else {}
    builder = BatchBuilder(at, START_MS + at, **given)
    builder.append(offset_key(group, "orders", 0), offset_value(offset))
    return builder.finish()


def follow(data_dir: Path, *batches: bytes) -> None:
    """Append what was fetched."""

    async def run() -> None:
        directory = ObservedDirectory(data_dir, META)
        directory.open()
        position = directory.facts_of(SHARD).upto
        found = dense(b"".join(batches), position)
        assert found is not None
        assert await directory.append([Append(SHARD, 0, position, found.data)]) == {}
        await directory.close()

    asyncio.run(run())


def promoted(data_dir: Path) -> ImportResult:
    return promote(data_dir, Progress())


def offsets(data_dir: Path) -> dict[str, list[int]]:
    return {
        group.group_id: [each.offset for each in group.offsets]
        for state in replay(data_dir)
        for group in state.groups
        if group.offsets
    }


def test_the_last_records_are_a_layer_and_all_of_them_the_history(tmp_path: Path) -> None:
    """An open transaction is left out. Ids of producers begin far above the highest."""
    follow(tmp_path, commit(0, 1), commit(5, 2), commit(6, 7, group="h"), commit(7, 99, producer=41))

    result = promoted(tmp_path)

    assert not read_meta(LOCAL, str(tmp_path)).is_observed
    assert result.next_producer_id == 1_000_000_042
    assert result.open_transactions == 1
    assert offsets(tmp_path) == {"g": [2], "h": [7]}
    [shard] = [each for each in job_shards(tmp_path) if each.name == str(SHARD)]
    assert shard.compacted_to() == 8
    layer, files = shard.whole(8)
    assert layer is None
    assert files[0].begin == 0


def test_an_interruption_before_the_end_costs_nothing(tmp_path: Path) -> None:
    """The directory still follows the cluster, and reads more; then it is promoted with that."""
    follow(tmp_path, commit(0, 1))
    promoted(tmp_path)
    write_meta(LOCAL, str(tmp_path), replace(read_meta(LOCAL, str(tmp_path)), is_observed=True))

    follow(tmp_path, commit(1, 2), commit(2, 3, group="h"))
    promoted(tmp_path)

    assert offsets(tmp_path) == {"g": [2], "h": [3]}


def test_a_servers_directory_is_refused(tmp_path: Path) -> None:
    follow(tmp_path, commit(0, 1))
    promoted(tmp_path)

    with pytest.raises(CannotRun, match="does not follow a cluster"):
        promoted(tmp_path)
