"""One partition that is followed: what to ask its leader, and what an answer means. There is no I/O here.

take → Batches     append them, then ``appended``
       Nothing     there is nothing new, or the answer came too late
       Cut         the cluster does not have our records from an offset on (KIP-595): set them aside, then ``was_cut``
       Find        our position is not in the leader's log: ask where that begins and ends, and call ``found``; if that says
                   nothing, ask where our epochs end there
       Moved       the leader has changed, or is unknown: look it up again
       Denied      an ACL is missing
"""

from __future__ import annotations

from typing import Final, NamedTuple

from coordinator_server.log.shards import ShardId
from coordinator_server.observe.dense import Dense, dense, first_batch
from coordinator_server.observe.facts import ShardFacts
from protocol.error_codes import ErrorCode
from protocol.messages.fetch import EpochEndOffset, FetchPartition, PartitionData

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
        self._doubted: Cut | None = None
        """What parts our log from the leader's, if the leader has records there: it is asked for them first."""

    @property
    def position(self) -> int:
        return self.facts.upto

    @property
    def is_behind(self) -> bool:
        """Whether there are records that were not read. One that was never answered is behind."""
        return self.high_watermark < 0 or self.fetch_offset < self.high_watermark or self._doubted is not None

    def lead(self, leader: int, leader_epoch: int) -> None:
        """Note who leads the partition. Another leader may know what the one before did not."""
        if (leader, leader_epoch) != (self.leader, self.leader_epoch):
            self._doubted = None
        self.leader, self.leader_epoch, self.is_waiting = leader, leader_epoch, leader < 0

    def asked(self) -> FetchPartition:
        """Return what to ask."""
        # The epoch of removed records is unknown. A guess would look as if the logs had diverged.
        offset, epoch = self.fetch_offset, self.facts.last_epoch if self.fetch_offset == self.position else -1
        if self._doubted is not None:
            offset, epoch = self._doubted.from_offset, -1
        return FetchPartition(self.shard.partition, self.leader_epoch, offset, epoch, partition_max_bytes=PARTITION_BYTES)

    def take(self, asked: FetchPartition, answer: PartitionData, *, is_whole: bool) -> Step:
        """Return what an answer means. ``is_whole``: the leader has left nothing out for its size. Raises DecodeError."""
        now = self.asked()
        if (asked.fetch_offset, asked.last_fetched_epoch) != (now.fetch_offset, now.last_fetched_epoch):
            return Nothing()
        error = ErrorCode(answer.error_code) if answer.error_code in _KNOWN else None
        if error in _DENIED:
            return Denied(error.name)
        if error is ErrorCode.OFFSET_OUT_OF_RANGE:
            return Find()
        if answer.error_code:
            self.is_waiting = True
            return Moved(error.name if error is not None else f"error {answer.error_code}")
        if answer.diverging_epoch.end_offset >= 0:
            return self._diverged(answer.diverging_epoch)
        if self._doubted is not None:
            return self._settled(self._doubted, answer, is_whole=is_whole)
        self.high_watermark = answer.high_watermark
        found = dense(bytes(answer.records or b""), self.position)
        self.is_starved = found is None and bool(answer.records)
        if found is None:
            if is_whole and not answer.records:
                # The last records before the end were removed, or the end is a marker's that was.
                self.high_watermark = min(self.high_watermark, self.fetch_offset)
            return Nothing()
        return Batches(found)

    def _diverged(self, diverging: EpochEndOffset) -> Step:
        """Return what it means that the leader's log has an earlier epoch, or a shorter one, before our position.

        A leader that has copied a cleaned log does not know the epochs of which nothing was left. An epoch of ours that it does not
        know, in a log that goes beyond our position, was lost by the cluster only if the leader has other records there.
        """
        cut = Cut(
            self.facts.epochs.shared_end(diverging.epoch, diverging.end_offset, self.position),
            f"the leader's epoch {diverging.epoch} ends at offset {diverging.end_offset}",
        )
        if cut.from_offset < self.position <= diverging.end_offset:
            self._doubted = cut
            return Nothing()
        return cut

    def _settled(self, cut: Cut, answer: PartitionData, *, is_whole: bool) -> Step:
        """Return what the leader's records from a doubted offset on mean."""
        first = first_batch(bytes(answer.records or b""), cut.from_offset)
        if first is not None and first.base_offset < self.position:
            self._doubted = None
            return cut
        is_empty = is_whole and not answer.records and answer.high_watermark >= self.position
        if first is not None or is_empty:
            # Nothing of the leader's is in the way. It does not know our epoch, so none is named until there is a batch of its own.
            self._doubted = None
            self.facts.last_epoch = -1
        self.is_starved = first is None and bool(answer.records)
        return Nothing()

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
        self._doubted = None
        self.facts = facts
        self.fetch_offset = facts.upto
        self.high_watermark = -1


_KNOWN: Final = frozenset(map(int, ErrorCode))
