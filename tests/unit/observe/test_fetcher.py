"""A partition is followed through what happens to it: the cleaner, deleted records, elections that lose records."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from coordinator_server.client.environment import Environment
from coordinator_server.client.errors import ClientError
from coordinator_server.client.settings import Address, ConnectionSettings
from coordinator_server.log.shards import ShardId
from coordinator_server.log.store import Meta
from coordinator_server.observe.cluster import AccessDenied
from coordinator_server.observe.directory import ObservedDirectory
from coordinator_server.observe.fetcher import Fetcher, Notices
from coordinator_server.observe.partition import Followed
from protocol.error_codes import ErrorCode
from protocol.fields import Message
from protocol.messages.fetch import FetchableTopicResponse, FetchRequest, FetchResponse, PartitionData
from protocol.record_batch import read_header
from tests.support.log import batch
from tests.support.model_leader import ModelLeader, records_in

SHARD = ShardId("__consumer_offsets", 0)
META = Meta("cluster", 1, {"__consumer_offsets": 1}, is_observed=True)


class Following:
    """A directory, and the fetcher of one partition. ``told`` are the reasons for which leaders are to be learned."""

    def __init__(self, data_dir: Path) -> None:
        self.directory = ObservedDirectory(data_dir, META)
        self.directory.open()
        self.partition = Followed(SHARD, self.directory.facts_of(SHARD))
        self.partition.lead(1, 0)
        self.told: list[str] = []
        notices = Notices(self.told.append, lambda: None)
        self.fetcher = Fetcher(Address("h", 1), ConnectionSettings("h:1"), Environment(), self.directory, notices)
        self.fetcher.partitions = [self.partition]

    async def catch_up(self, leader: ModelLeader) -> None:
        for _ in range(100):
            await self.fetcher.fetch_once(leader)  # type: ignore[arg-type]
            if not self.partition.is_behind:
                return
        raise AssertionError(f"at {self.partition.fetch_offset} of {leader.end}: {self.told}")

    def batches(self) -> list[bytes]:
        return list(self.directory.store.read(SHARD, 0))


def playing(play: Callable[[Following], Awaitable[None]], data_dir: Path) -> None:
    async def run() -> None:
        following = Following(data_dir)
        try:
            await play(following)
        finally:
            await following.directory.close()

    asyncio.run(run())


@pytest.mark.parametrize("seed", [*range(8), 14, 48, 109])
def test_whatever_happens_the_log_is_the_leaders(seed: int, tmp_path: Path) -> None:
    """Each record that the leader has is here, at its offset. One that is here alone was removed there after it was read.

    The directory is closed and opened on the way, without and with what is known of it.
    """
    rng = random.Random(seed)
    leader = ModelLeader(SHARD, rng)
    lost: set[bytes | None] = set()

    async def play(following: Following) -> None:
        for _ in range(30):
            before = records_in(leader.batches)
            what = rng.choice(["append"] * 6 + ["clean", "delete", "elect", "lose", "follow", "follow", "open"])
            match what:
                case "append":
                    leader.append()
                case "clean":
                    leader.clean()
                case "delete":
                    leader.delete_records()
                case "elect" | "lose":
                    leader.elect(is_unclean=what == "lose")
                    lost.update(value for offset, value in before.items() if offset >= leader.end)
                case "follow":
                    await following.catch_up(leader)
                    check(leader, following, lost)
                case "open":
                    await following.directory.close()
                    if rng.random() < 0.5:
                        (tmp_path / "observed.json").unlink()
                    following.__init__(tmp_path)  # type: ignore[misc]
        await following.catch_up(leader)
        check(leader, following, lost)

    playing(play, tmp_path)


@pytest.mark.parametrize("seed", range(12))
def test_what_was_read_stays_through_clean_elections(seed: int, tmp_path: Path) -> None:
    """Also if the leader has copied a cleaned log, and does not know the epochs of which nothing was left there."""
    rng = random.Random(seed)
    leader = ModelLeader(SHARD, rng)

    async def play(following: Following) -> None:
        read: dict[int, bytes | None] = {}
        for _ in range(60):
            match rng.choice(["append"] * 4 + ["clean", "elect", "elect", "move", "follow", "open"]):
                case "append":
                    leader.append()
                case "clean":
                    for _ in range(5):
                        leader.clean()
                case "elect":
                    leader.elect(is_unclean=False)
                case "move":
                    leader.move()
                case "follow":
                    await following.catch_up(leader)
                    read = records_in(following.batches())
                case "open":
                    await following.directory.close()
                    following.__init__(tmp_path)  # type: ignore[misc]
            assert following.directory.facts.set_aside == []
            assert read.items() <= records_in(following.batches()).items()
        await following.catch_up(leader)
        check(leader, following, set())

    playing(play, tmp_path)


def check(leader: ModelLeader, following: Following, lost: set[bytes | None]) -> None:
    batches = following.batches()
    ours, theirs = records_in(batches), records_in(leader.batches)
    assert theirs.items() <= ours.items()
    # Of what was lost before the beginning of its log the leader knows nothing any more.
    assert not lost & {value for offset, value in ours.items() if offset >= leader.start}
    headers = [read_header(each) for each in batches]
    ends = [0, *(each.next_offset for each in headers)]
    assert [each.base_offset for each in headers] == ends[:-1]
    assert sum(each.last_offset_delta + 1 - each.count for each in headers) == following.partition.facts.missing


def test_what_the_cluster_has_lost_is_kept_beside(tmp_path: Path) -> None:
    """It is not in the log, and is said."""
    leader = ModelLeader(SHARD, random.Random(1))

    async def play(following: Following) -> None:
        for _ in range(5):
            leader.append()
        await following.catch_up(leader)
        whole = following.batches()
        leader.elect(is_unclean=True)
        leader.append()
        await following.catch_up(leader)

        kept = len(leader.batches) - 1
        assert following.batches() == leader.batches
        [aside] = following.directory.facts.set_aside
        assert (tmp_path / "set-aside" / f"{aside.name}.log").read_bytes() == b"".join(whole[kept:])
        assert "epoch 0 ends" in aside.why

    playing(play, tmp_path)


def test_what_is_there_is_fetched_at_once_and_then_once_a_second(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It pauses when it is up to date, and no request waits at the server."""
    leader = ModelLeader(SHARD, random.Random(1))
    seen: list[object] = []

    async def play(following: Following) -> None:
        async def pause(_seconds: float) -> None:
            seen.append("pause")
            if seen.count("pause") == 3:
                following.fetcher.partitions = []
            elif seen.count("pause") == 2:
                leader.append()

        class Asked:
            async def request(self, message: Message, *rest: Any) -> Message:
                assert isinstance(message, FetchRequest)
                seen.append(message.max_wait_ms)
                return await leader.request(message, *rest)

        for _ in range(12):
            leader.append()
        monkeypatch.setattr("coordinator_server.observe.fetcher.asyncio.sleep", pause)
        await following.fetcher.follow(Asked())  # type: ignore[arg-type]

    playing(play, tmp_path)
    first = seen.index("pause")
    # The leader gives three batches at a time at most.
    assert first >= 4
    assert seen == [0] * first + ["pause", 0, "pause", 0, "pause"]


class Answering:
    """A leader that gives one answer."""

    def __init__(self, data: PartitionData, error_code: int = 0) -> None:
        self._response = FetchResponse(error_code=error_code, responses=[FetchableTopicResponse(SHARD.topic, partitions=[data])])

    async def request(self, *_: Any) -> FetchResponse:
        return self._response


def test_errors_of_answers(tmp_path: Path) -> None:
    """A denial and bytes that are no batches end it; a lost leader is learned again."""

    async def play(following: Following) -> None:
        fetch: Callable[[Any], Awaitable[None]] = following.fetcher.fetch_once
        with pytest.raises(AccessDenied, match="__consumer_offsets"):
            await fetch(Answering(PartitionData(0, ErrorCode.TOPIC_AUTHORIZATION_FAILED)))
        with pytest.raises(ClientError, match="no whole batch"):
            await fetch(Answering(PartitionData(0, records=batch(0)[:-2] + b"\7\7")))
        await fetch(Answering(PartitionData(0, ErrorCode.NOT_LEADER_OR_FOLLOWER)))
        assert following.told == ["__consumer_offsets-0: NOT_LEADER_OR_FOLLOWER"]
        assert following.partition.is_waiting

    playing(play, tmp_path)
