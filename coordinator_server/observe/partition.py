"""One partition that is followed: what to ask its leader, and what an answer means. There is no I/O here.

take → Batches     append them, then ``appended``
       Nothing     there is nothing new, or the answer came too late
       Cut         the cluster does not have our records from an offset on (KIP-595): set them aside, then ``was_cut``
       Find        our position is not in the leader's log: ask where that begins and ends, and call ``found``; if that says
                   nothing, ask where our epochs end there
       Moved       the leader is another one, or not known: learn it again
       Denied      an ACL is missing
"""

from __future__ import annotations

from typing import Final, NamedTuple

from coordinator_server.log.shards import ShardId
from coordinator_server.observe.dense import Dense, dense
from coordinator_server.observe.facts import ShardFacts
from protocol.error_codes import ErrorCode
from protocol.messages.fetch import FetchPartition, PartitionData

PARTITION_BYTES: Final = 1 << 20
_DENIED: Final = frozenset({ErrorCode.TOPIC_AUTHORIZATION_FAILED, ErrorCode.CLUSTER_AUTHORIZATION_FAILED})


class Batches(NamedTuple):
    """Batches to append at the position."""

    dense: Dense


class Nothing(NamedTuple):
    """There is nothing to do."""


class Cut(NamedTuple):
    """The records from an offset on are not the cluster's any more."""

    from_offset: int
    why: str


class Find(NamedTuple):
    """The position is not in the leader's log."""


class Moved(NamedTuple):
    """The leader does not answer for the partition now."""

    why: str


class Denied(NamedTuple):
    """The cluster denies it."""

    why: str


Step = Batches | Nothing | Cut | Find | Moved | Denied


class Followed:
    """A partition. ``position`` is the end of our log, ``fetch_offset`` what is asked for: later if the leader's begins there."""

    def __init__(self, shard: ShardId, facts: ShardFacts) -> None:
        self.shard = shard
        self.facts = facts
        self.fetch_offset = facts.upto
        self.leader = -1
        self.leader_epoch = -1
        self.high_watermark = -1
        """As of the last answer; -1 before the first."""
        self.is_waiting = True
        """Whether nothing is asked until the leader is learned again."""
        self.is_starved = False
        """Whether the last answer had no room for a whole batch: the first partition of a request always gets one."""

    @property
    def position(self) -> int:
        return self.facts.upto

    @property
    def is_behind(self) -> bool:
        """Whether there are records that were not read. One that was never answered is behind."""
        return self.high_watermark < 0 or self.fetch_offset < self.high_watermark

    def lead(self, leader: int, leader_epoch: int) -> None:
        """Note who leads the partition."""
        self.leader, self.leader_epoch, self.is_waiting = leader, leader_epoch, leader < 0

    def asked(self) -> FetchPartition:
        """Return what to ask."""
        # Of removed records nobody knows the epoch. Any other one would look as if the logs had diverged.
        epoch = self.facts.last_epoch if self.fetch_offset == self.position else -1
        return FetchPartition(
            self.shard.partition, self.leader_epoch, self.fetch_offset, epoch, partition_max_bytes=PARTITION_BYTES
        )

    def take(self, asked: FetchPartition, answer: PartitionData, *, is_whole: bool) -> Step:
        """Return what an answer means. ``is_whole``: the leader has left nothing out for its size. Raises DecodeError."""
        if asked.fetch_offset != self.fetch_offset:
            return Nothing()
        error = ErrorCode(answer.error_code) if answer.error_code in _KNOWN else None
        if error in _DENIED:
            return Denied(error.name)
        if error is ErrorCode.OFFSET_OUT_OF_RANGE:
            return Find()
        if answer.error_code:
            self.is_waiting = True
            return Moved(error.name if error is not None else f"error {answer.error_code}")
        diverging = answer.diverging_epoch
        if diverging.end_offset >= 0:
            cut = self.facts.epochs.shared_end(diverging.epoch, diverging.end_offset, self.position)
            return Cut(cut, f"the leader's epoch {diverging.epoch} ends at offset {diverging.end_offset}")
        self.high_watermark = answer.high_watermark
        found = dense(bytes(answer.records or b""), self.position)
        self.is_starved = found is None and bool(answer.records)
        if found is None:
            if is_whole and not answer.records:
                # The last records before the end were removed, or the end is a marker's that was.
                self.high_watermark = min(self.high_watermark, self.fetch_offset)
            return Nothing()
        return Batches(found)

    def appended(self, batches: Dense) -> bool:
        """Note that batches are durable. Return whether the facts have changed for a later start."""
        is_changed = self.facts.add(batches.headers)
        self.fetch_offset = self.position
        return is_changed

    def found(self, earliest: int, latest: int) -> bool:
        """Note where the leader's log begins and ends. Return whether that is why our position was not in it."""
        if self.fetch_offset < earliest:
            self.fetch_offset, self.high_watermark = earliest, -1
            return True
        # It has grown meanwhile. With an epoch it may be that the leader does not know it: a longer log of another history.
        return self.fetch_offset <= latest and self.facts.last_epoch < 0

    def was_cut(self, facts: ShardFacts) -> None:
        """Go on from a shorter log."""
        self.facts = facts
        self.fetch_offset = facts.upto
        self.high_watermark = -1


_KNOWN: Final = frozenset(map(int, ErrorCode))
