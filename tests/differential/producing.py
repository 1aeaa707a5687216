"""What producers ask of the transaction coordinator: verbs of scripts, whose first word is a transactional id.

> init P timeout=1 own=P:2 v=5       InitProducerId; own=…: the producer's own id, or that of another, and epoch; P may be '' or
                                     null
> add P t:0 t:1 u: v=3 check=1       AddPartitionsToTxn, from version 4 on in the form of brokers; u: is a topic without partitions
> add P t:0 Q u:0 check=Q v=5        … of several transactions, some of which are only checked; of:g is the partition of a group's
                                     offsets
> offsets P g                        AddOffsetsToTxn
> txncommit P g t:0:5/meta member=A:1 instance=i leader=3   TxnOffsetCommit, of a member and its generation, with a leader epoch
> end P commit                       EndTxn, or abort
> mark P commit of:g t:0 Q abort of:h version=2 coordinator=0   WriteTxnMarkers of one or more producers
> described P Q                      DescribeTransactions
> producers of:g t:0                 DescribeProducers
> transactions states=Ongoing of=P longer=0 pattern=.*    ListTransactions
> until transaction:P CompleteCommit   or rest: no markers are being written; over: no transaction is open, either; gone: there is
                                       no such id

A producer has the id and the epoch that it got last. id=Q and epoch=7 (or epoch=+1) stand for others,
and Q@-1 for an older epoch of one of several.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final
from zlib import crc32

from coordinator_server.kinds import GROUPS
from protocol.error_codes import ErrorCode
from protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from protocol.messages.describe_producers import DescribeProducersRequest
from protocol.messages.describe_producers import TopicRequest as AskedTopic
from protocol.messages.describe_transactions import DescribeTransactionsRequest
from protocol.messages.end_txn import EndTxnRequest
from protocol.messages.init_producer_id import InitProducerIdRequest
from protocol.messages.list_transactions import ListTransactionsRequest
from protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from protocol.messages.write_txn_markers import WritableTxnMarker, WritableTxnMarkerTopic, WriteTxnMarkersRequest
from tests.differential.records import offsets_partition
from tests.differential.script_requests import ASKED_BY_NOBODY, NOBODY, Asking
from tests.scenarios.player import LONG_METADATA, Api, Words

INIT = Api("init", 5)
ADD = Api("add", 3)
OFFSETS = Api("offsets", 4)
TXN_COMMIT = Api("txncommit", 5)
END = Api("end", 5)
MARK = Api("mark", 2)
DESCRIBED = Api("described", 0)
PRODUCERS = Api("producers", 0)
TRANSACTIONS = Api("transactions", 2)
FIRST_OF_BROKERS: Final = 4
NONE: Final = -1
_RESULTS: Final = {"commit", "abort"}
FIRST_OF_NOBODY: Final = 1 << 40
"""Producer ids from here on have been given out by no server. Each script has one of them."""


class Producing(Asking):
    """One script on one server, with its producers."""

    def __init__(self, prefix: str, topic_ids: dict[str, bytes]) -> None:
        super().__init__(prefix, topic_ids)
        # Producer id and epoch of each transactional id.
        self._producers: dict[str, tuple[int, int]] = {}
        self._nobodys_id = FIRST_OF_NOBODY + crc32(prefix.encode())

    def learn(self, plain: list[str], answer: Any) -> None:
        """Take the id and epoch that a producer was given."""
        if isinstance(answer, dict) and answer.get("errorCode") == ErrorCode.NONE and answer.get("producerId", NONE) != NONE:
            self._producers[plain[0]] = answer["producerId"], answer["producerEpoch"]

    def init_producer_id(self, plain: list[str], words: Words) -> None:
        name, _, epoch = words.get("own", "").partition(":")
        own = (self._producer_id(name), int(epoch)) if name else (NONE, NONE)
        transactional_id = None if plain[0] == "null" else self._group(plain[0])
        self._send(NOBODY, INIT, InitProducerIdRequest(transactional_id, int(words.get("timeout", 60_000)), *own), words, str)

    def add_partitions(self, plain: list[str], words: Words) -> None:
        checked = words.get("check", "").split(",")
        transactions = []
        for name, texts in _parts(plain):
            topics = [AddPartitionsToTxnTopic(topic, indexes) for topic, indexes in self._partitions(texts).items()]
            who = (self._group(name.partition("@")[0]), *self._producer(name, words))
            transactions.append(AddPartitionsToTxnTransaction(*who, "1" in checked or name in checked, topics))
        request = AddPartitionsToTxnRequest(transactions)
        if int(words.get("v", ADD.newest)) < FIRST_OF_BROKERS:
            [one] = transactions
            request = AddPartitionsToTxnRequest([], one.transactional_id, one.producer_id, one.producer_epoch, one.topics)
        self._send(NOBODY, ADD, request, words, str)

    def add_offsets(self, plain: list[str], words: Words) -> None:
        request = AddOffsetsToTxnRequest(self._group(plain[0]), *self._producer(plain[0], words), plain[1])
        self._send(NOBODY, OFFSETS, request, words, str)

    def commit_offsets(self, plain: list[str], words: Words) -> None:
        topics = []
        for text in plain[2:]:
            name, index, rest = text.split(":")
            offset, _, metadata = rest.partition("/")
            content = {"long": LONG_METADATA, "-": None}.get(metadata, metadata)
            partition = TxnOffsetCommitRequestPartition(int(index), int(offset), int(words.get("leader", NONE)), content)
            topics.append(TxnOffsetCommitRequestTopic(self._topic(name), [partition]))
        producer_id, epoch = self._producer(plain[0], words)
        request = TxnOffsetCommitRequest(self._group(plain[0]), plain[1], producer_id, epoch, topics=topics)
        if "member" in words:
            member, _, generation = words["member"].rpartition(":")
            request.member_id, request.generation_id = self._member_id(member), int(generation)
        request.group_instance_id = words.get("instance")
        self._send(NOBODY, TXN_COMMIT, request, words, str)

    def end_transaction(self, plain: list[str], words: Words) -> None:
        request = EndTxnRequest(self._group(plain[0]), *self._producer(plain[0], words), plain[1] == "commit")
        self._send(NOBODY, END, request, words, str)

    def write_markers(self, plain: list[str], words: Words) -> None:
        version, coordinator = int(words.get("version", 2)), int(words.get("coordinator", 0))
        markers = []
        for name, (result, *texts) in _parts(plain):
            topics = [WritableTxnMarkerTopic(topic, indexes) for topic, indexes in self._partitions(texts).items()]
            who = self._producer(name, words)
            markers.append(WritableTxnMarker(*who, result == "commit", topics, coordinator, version))
        self._send(NOBODY, MARK, WriteTxnMarkersRequest(markers), words, str)

    def describe_producers(self, plain: list[str], words: Words) -> None:
        asked = [AskedTopic(topic, indexes) for topic, indexes in self._partitions(plain).items()]
        self._send(NOBODY, PRODUCERS, DescribeProducersRequest(asked), words, str)

    def describe_transactions(self, plain: list[str], words: Words) -> None:
        self._send(NOBODY, DESCRIBED, DescribeTransactionsRequest([self._group(name) for name in plain]), words, str)

    def list_transactions(self, plain: list[str], words: Words) -> None:
        states, names = ([part for part in words.get(key, "").split(",") if part] for key in ("states", "of"))
        ids = [self._producer_id(name) for name in names]
        pattern = words.get("pattern")
        asked = ListTransactionsRequest(
            states, ids, int(words.get("longer", NONE)), pattern and pattern.replace("@", self._prefix)
        )
        self._send(NOBODY, TRANSACTIONS, asked, words, str)

    def _partitions(self, texts: list[str]) -> dict[str, list[int]]:
        """Partitions by topic."""
        topics: dict[str, list[int]] = {}
        for text in texts:
            name, _, index = text.partition(":")
            if name == "of":
                name, index = GROUPS.topic, str(offsets_partition(self._group(index)))
            topics.setdefault(self._topic(name), []).extend([int(index)] if index else [])
        return topics

    def _producer(self, name: str, words: Words) -> tuple[int, int]:
        name, _, change = name.partition("@")
        producer_id, epoch = self._producers.get(name, (self._nobodys_id, 0))
        if "id" in words:
            producer_id = self._producer_id(words["id"])
        text = change or words.get("epoch", "+0")
        return producer_id, epoch + int(text) if text[0] in "+-" else int(text)

    def _producer_id(self, name: str) -> int:
        if name == "none":
            return NONE
        return self._producers[name][0] if name in self._producers else self._nobodys_id


def _parts(plain: list[str]) -> list[tuple[str, list[str]]]:
    """Each producer's name, with the words that follow it: results and partitions."""
    parts: list[tuple[str, list[str]]] = []
    for word in plain:
        if ":" in word or word in _RESULTS:
            parts[-1][1].append(word)
        else:
            parts.append((word, []))
    return parts


ASKED: Final[dict[str, Callable[[Producing, list[str], Words], None]]] = {
    **ASKED_BY_NOBODY,
    "init": Producing.init_producer_id,
    "add": Producing.add_partitions,
    "offsets": Producing.add_offsets,
    "txncommit": Producing.commit_offsets,
    "end": Producing.end_transaction,
    "mark": Producing.write_markers,
    "producers": Producing.describe_producers,
    "described": Producing.describe_transactions,
    "transactions": Producing.list_transactions,
}
"""What nobody in particular asks, and what producers ask."""
