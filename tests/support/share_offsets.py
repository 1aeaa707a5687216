"""A share group's shard beside the shards that keep the states of its share partitions:
messages between them, and crashes of the first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from coordinator_server.group.shard import GroupShard
from protocol.error_codes import ErrorCode
from protocol.messages.alter_share_group_offsets import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsRequestPartition,
    AlterShareGroupOffsetsRequestTopic,
)
from protocol.messages.delete_share_group_offsets import DeleteShareGroupOffsetsRequest, DeleteShareGroupOffsetsRequestTopic
from tests.support.group import FakeReply, SentMessage
from tests.support.share_beats import ShareBeats

Position = tuple[str, bytes, int]
"""A group, a topic id and a partition."""


class ShareWorld(ShareBeats):
    """``states`` has the start offsets that the other shards keep; they lose nothing. ``refused`` gives partitions an error."""

    def __init__(self, /, **topics: int) -> None:
        super().__init__(**topics)
        self.states: dict[Position, int] = {}
        self.refused: dict[int, ErrorCode] = {}
        self._heard: tuple[Any, SentMessage] | None = None

    # Requests

    def alter(self, group_id: str = "g", /, **topics: dict[int, int]) -> FakeReply:
        """Ask for start offsets, by topic and partition."""
        asked = [
            AlterShareGroupOffsetsRequestTopic(
                name, [AlterShareGroupOffsetsRequestPartition(index, offset) for index, offset in offsets.items()]
            )
            for name, offsets in topics.items()
        ]
        request = AlterShareGroupOffsetsRequest(group_id, asked)
        return self.log.run(GroupShard.alter_share_group_offsets, request, version=0)

    def delete_offsets(self, *topics: str, group_id: str = "g") -> FakeReply:
        """Ask for the deletion of the offsets of topics."""
        request = DeleteShareGroupOffsetsRequest(group_id, [DeleteShareGroupOffsetsRequestTopic(name) for name in topics])
        return self.log.run(GroupShard.delete_share_group_offsets, request, version=0)

    def delete_groups(self, *group_ids: str) -> FakeReply:
        return self.log.run(GroupShard.delete_groups, list(group_ids), version=2)

    # The other shards

    def initialize(self) -> list[SentMessage]:
        """Deliver all messages. Return them."""
        return self.log.deliver(self.keep)

    def keep(self, message: SentMessage) -> list[int]:
        """Do what a message asks for; return the answer."""
        return [self._keep(message, each) for each in message.request.partitions]

    def _keep(self, message: SentMessage, each: Any) -> ErrorCode:
        group_id = message.request.group_id
        if message.name == "delete-states":
            topic_id, partition = each
            self.states.pop((group_id, topic_id, partition), None)
            return self.refused.get(partition, ErrorCode.NONE)
        topic = self.log.topics.topic_by_id(each.topic_id)
        if topic is None or each.partition >= topic.partitions:
            return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        if each.partition in self.refused:
            return self.refused[each.partition]
        self.states[group_id, each.topic_id, each.partition] = each.start_offset
        return ErrorCode.NONE

    def work(self) -> None:
        """Deliver all messages, and let time pass, until nothing is left to do."""
        for _ in range(10):
            self.log.deliver(self.keep)
            self.log.advance(1_100)
        assert not self.log.outbox.messages

    # Crashes

    def play(self, crash_at: int) -> bool:
        """Take step after step; crash before the step of this number. Return whether it came to that.

        A step makes what is written durable, or delivers one message, or lets time pass.
        """
        for number in range(1000):
            step = self._next_step()
            if step is None:
                return False
            if number == crash_at:
                self._heard = None
                self.log.is_holding = False
                self.log.restart()
                return True
            step()
        raise AssertionError("no end")

    def _next_step(self) -> Callable[[], None] | None:
        log = self.log
        if log.pending:
            return self._flush
        if log.outbox.messages:
            return self._deliver_one
        due = [key for key in log.timer.keys if isinstance(key, tuple) and log.timer.due_in(key) == 0]
        return (lambda: log.advance(0)) if due else None

    def _flush(self) -> None:
        self.log.flush()
        if self._heard is not None:
            self.log.outbox.messages.pop(self._heard[0], None)
            self._heard = None

    def _deliver_one(self) -> None:
        outbox = self.log.outbox
        intent, message = next(iter(outbox.messages.items()))
        others = {key: each for key, each in outbox.messages.items() if key != intent}
        outbox.messages = {intent: message}
        self.log.deliver(self.keep)
        if intent in outbox.messages:
            self._heard = intent, message
        outbox.messages = {**others, **outbox.messages}

    # What must hold when nothing is left to do

    def assert_settled(self) -> None:
        """Each group knows exactly its states, and nothing is in progress."""
        known: set[Position] = set()
        for group_id, group in self.log.shard.groups.share.by_id.items():
            topics = group.state_topics.value
            assert (dict(topics.initializing), topics.deleting) == ({}, ())
            known |= {(group_id, topic_id, each) for topic_id, topic in topics.initialized.items() for each in topic.partitions}
        assert known == set(self.states)
        assert self.log.hard_state() == self.log.replayed_state()

    def starts(self, group_id: str = "g") -> dict[str, dict[int, int]]:
        """The start offsets of a group by topic."""
        found: dict[str, dict[int, int]] = {}
        for (owner, topic_id, partition), offset in sorted(self.states.items()):
            topic = self.log.topics.topic_by_id(topic_id)
            if owner == group_id and topic is not None:
                found.setdefault(topic.name, {})[partition] = offset
        return found
