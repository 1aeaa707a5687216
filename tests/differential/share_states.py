"""What brokers ask a share coordinator (KIP-932): verbs of scripts, whose first word after the verb is a group.

> initialize g t:0 t:1:5 state=1         InitializeShareGroupState; a position may have a start offset, which is 0 otherwise
> read g t:0 leader=3                    ReadShareGroupState
> write g t:0:10 10..19:2:1 t:1 leader=3 state=1 complete=4 v=0     WriteShareGroupState; batches (first..last:state:count) belong
                                                                    to the position before them
> erase g t:0                            DeleteShareGroupState
> summary g t:0 leader=3 v=0             ReadShareGroupStateSummary
> flood g t:0 500                        that many writes, one after the other, of one batch each
> find g:t:0 type=2                      FindCoordinator of a share partition
> until g kept=2                         until the log has the state of so many share partitions of the group

The default of an epoch and of the start offset of a write is -1. "zero" is the topic id of zeros;
``t:`` is a topic without partitions.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from protocol.fields import Item, uuid_text
from protocol.messages import delete_share_group_state as deleting
from protocol.messages import initialize_share_group_state as initializing
from protocol.messages import read_share_group_state as reading
from protocol.messages import read_share_group_state_summary as summing
from protocol.messages import write_share_group_state as writing
from protocol.messages.delete_share_group_state import DeleteShareGroupStateRequest
from protocol.messages.initialize_share_group_state import InitializeShareGroupStateRequest
from protocol.messages.read_share_group_state import ReadShareGroupStateRequest
from protocol.messages.read_share_group_state_summary import ReadShareGroupStateSummaryRequest
from protocol.messages.write_share_group_state import WriteShareGroupStateRequest
from tests.differential.consuming import ASKED as ASKED_BEFORE
from tests.differential.consuming import Consuming
from tests.differential.script_requests import NOBODY
from tests.scenarios.player import Api, Words

INITIALIZE = Api("initialize", 0)
READ = Api("read", 0)
WRITE = Api("write", 1)
ERASE = Api("erase", 0)
SUMMARY = Api("summary", 1)
_BATCH: Final = re.compile(r"(-?\d+)\.\.(-?\d+):(-?\d+):(-?\d+)")
_UNSET: Final = "-1"
# The key type of share partitions in FindCoordinator.
_OF_SHARES: Final = 2


class ShareStates(Consuming):
    """What is asked of a share coordinator on one server."""

    def initialize(self, plain: list[str], words: Words) -> None:
        state = int(words.get("state", _UNSET))

        def partition(index: int, rest: list[str]) -> initializing.PartitionData:
            return initializing.PartitionData(index, state, int(rest[0]) if rest else 0)

        topics = self._by_topic(plain[1:], initializing.InitializeStateData, partition)
        self._send(NOBODY, INITIALIZE, InitializeShareGroupStateRequest(plain[0], topics), words, str)

    def read_state(self, plain: list[str], words: Words) -> None:
        leader = int(words.get("leader", _UNSET))
        topics = self._by_topic(plain[1:], reading.ReadStateData, lambda index, _: reading.PartitionData(index, leader))
        self._send(NOBODY, READ, ReadShareGroupStateRequest(plain[0], topics), words, str)

    def write_state(self, plain: list[str], words: Words) -> None:
        self._send(NOBODY, WRITE, self.written(plain, words), words, str)

    def erase(self, plain: list[str], words: Words) -> None:
        topics = self._by_topic(plain[1:], deleting.DeleteStateData, lambda index, _: deleting.PartitionData(index))
        self._send(NOBODY, ERASE, DeleteShareGroupStateRequest(plain[0], topics), words, str)

    def sum_up(self, plain: list[str], words: Words) -> None:
        leader = int(words.get("leader", _UNSET))
        topics = self._by_topic(plain[1:], summing.ReadStateSummaryData, lambda index, _: summing.PartitionData(index, leader))
        self._send(NOBODY, SUMMARY, ReadShareGroupStateSummaryRequest(plain[0], topics), words, str)

    def written(self, plain: list[str], words: Words) -> WriteShareGroupStateRequest:
        """The request of a line, with the group's name as the line has it."""
        state, leader, complete = (int(words.get(name, _UNSET)) for name in ("state", "leader", "complete"))
        batches: list[list[writing.StateBatch]] = []
        positions: list[str] = []
        for word in plain[1:]:
            if batch := _BATCH.fullmatch(word):
                first, last, delivery_state, count = map(int, batch.groups())
                batches[-1].append(writing.StateBatch(first, last, delivery_state, count))
            else:
                positions.append(word)
                batches += [] if word.endswith(":") else [[]]
        pending = iter(batches)

        def partition(index: int, rest: list[str]) -> writing.PartitionData:
            return writing.PartitionData(index, state, leader, int(rest[0] if rest else _UNSET), complete, next(pending))

        return WriteShareGroupStateRequest(plain[0], self._by_topic(positions, writing.WriteStateData, partition))

    def _coordinator_key(self, name: str, key_type: int) -> str:
        """``g:t:0`` is a share partition's, with the id of the topic; what has another form stays as it is."""
        if key_type != _OF_SHARES:
            return super()._coordinator_key(name, key_type)
        group, *rest = name.split(":")
        if rest and self._topic(rest[0]) in self._topic_ids:
            rest[0] = uuid_text(self._topic_ids[self._topic(rest[0])])
            return ":".join([self._group(group), *rest])
        return self._prefix + name

    def _by_topic(
        self, positions: list[str], topic: Callable[[bytes, Any], Any], partition: Callable[[int, list[str]], Item]
    ) -> list[Any]:
        """One element for each run of positions with the same topic, so that a script can name one twice."""
        found: list[tuple[str, list[Item]]] = []
        for position in positions:
            name, *rest = position.split(":")
            if not found or found[-1][0] != name:
                found.append((name, []))
            if rest[0]:
                found[-1][1].append(partition(int(rest[0]), rest[1:]))
        return [topic(self._id_of(name), partitions) for name, partitions in found]


ASKED: Final[dict[str, Callable[[Any, list[str], Words], None]]] = {
    **ASKED_BEFORE,
    "initialize": ShareStates.initialize,
    "read": ShareStates.read_state,
    "write": ShareStates.write_state,
    "erase": ShareStates.erase,
    "summary": ShareStates.sum_up,
}
