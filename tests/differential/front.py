"""Two nodes that look like one server: a port that sends each request to the node that answers it, as clients do by themselves.

What names several groups is divided, and the answers are joined. Answers that name nodes name this port.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from threading import Thread
from typing import Any, Final, NamedTuple

from coordinator_server.kinds import GROUPS, SHARE_STATE, TRANSACTIONS
from coordinator_server.runtime.partitioner import partition_for
from protocol.api import known_apis
from protocol.codec import decode, encode
from protocol.errors import ProtocolError
from protocol.fields import Message
from protocol.frames import decode_request_header
from tests.support.client import API_VERSIONS, response_type

_LENGTH: Final = struct.Struct(">i")
# The node as whose the answers are: ours without other nodes has this id.
_NODE: Final = 1
# Where the ids of groups are in a request, and their answers in the response.
_OF_GROUPS: Final = {
    "DescribeGroupsRequest": ("groups", "groups"),
    "DeleteGroupsRequest": ("groups_names", "results"),
    "OffsetFetchRequest": ("groups", "groups"),
    "ConsumerGroupDescribeRequest": ("group_ids", "groups"),
    "ShareGroupDescribeRequest": ("group_ids", "groups"),
    "StreamsGroupDescribeRequest": ("group_ids", "groups"),
    "DescribeShareGroupOffsetsRequest": ("groups", "groups"),
}
# What every node is asked for, and where it is in the response.
_OF_ALL: Final = {"ListGroupsRequest": "groups", "ListTransactionsRequest": "transaction_states"}
_OF_TRANSACTIONS: Final = {
    "InitProducerIdRequest",
    "AddPartitionsToTxnRequest",
    "AddOffsetsToTxnRequest",
    "EndTxnRequest",
    "DescribeTransactionsRequest",
}
_OF_PARTITIONS: Final = {"ListOffsetsRequest", "FetchRequest", "DescribeProducersRequest"}
# A broker of this id is meant.
_OF_NODE: Final = {"DescribeConfigsRequest", "IncrementalAlterConfigsRequest", "AlterConfigsRequest"}


class Part(NamedTuple):
    """What a node is asked."""

    node: int
    request: Message


class Front:
    """A listening port. ``owners`` has the node of each shard, ``addresses`` those of the nodes."""

    def __init__(self, addresses: Mapping[int, tuple[str, int]], owners: Mapping[str, int], port: int = 0) -> None:
        self._addresses = addresses
        self._owners = owners
        self._listening = socket.create_server(("127.0.0.1", port), backlog=1024)
        self.address: tuple[str, int] = self._listening.getsockname()
        self._open: list[socket.socket] = []
        Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Hang up."""
        for each in (self._listening, *self._open):
            # What waits in a thread wakes up.
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    # Which node

    def _node_of(self, topic: str, partition: int) -> int:
        """Return the node that owns a shard, or leads a partition of an ordinary topic."""
        nodes = sorted(self._addresses)
        return self._owners.get(f"{topic}-{partition}", nodes[partition % len(nodes)])

    def _node_of_group(self, group_id: str) -> int:
        shards = sum(shard.startswith(f"{GROUPS.topic}-") for shard in self._owners)
        return self._node_of(GROUPS.topic, partition_for(group_id, shards))

    def parts(self, request: Message, home: int) -> list[Part]:
        """Return what to ask which nodes. ``home`` is the one that a client asks first."""
        name = type(request).__name__
        if name in _OF_GROUPS and (items := getattr(request, _OF_GROUPS[name][0])):
            return self._divided(request, _OF_GROUPS[name][0], items, lambda item: self._node_of_group(_group_of(item)))
        if name in _OF_ALL:
            return [Part(node, request) for node in self._addresses]
        if name == "InitProducerIdRequest" and getattr(request, "transactional_id") is None:  # noqa: B009 - of one type
            return [Part(home, request)]
        if name in _OF_TRANSACTIONS:
            return [Part(self._node_of(TRANSACTIONS.topic, 0), request)]
        if name.endswith("ShareGroupStateRequest") or name == "ReadShareGroupStateSummaryRequest":
            return [Part(self._node_of(SHARE_STATE.topic, 0), request)]
        if name in _OF_PARTITIONS:
            return self._by_partition(request, home)
        if name == "WriteTxnMarkersRequest":
            return self._by_marker(request, home)
        if name in _OF_NODE:
            return [Part(_NODE, request)]
        group_id = getattr(request, "group_id", None)
        return [Part(home if group_id is None else self._node_of_group(group_id), request)]

    def _divided(self, request: Message, field: str, items: Iterable[Any], node_of: Callable[[Any], int]) -> list[Part]:
        by_node: dict[int, list[Any]] = {}
        for item in items:
            by_node.setdefault(node_of(item), []).append(item)
        return [Part(node, _with(request, **{field: some})) for node, some in by_node.items()]

    def _by_partition(self, request: Message, home: int) -> list[Part]:
        by_node: dict[int, list[Any]] = {}
        for topic in getattr(request, "topics"):  # noqa: B009 - of three types
            field = "partition_indexes" if hasattr(topic, "partition_indexes") else "partitions"
            for node, some in self._of_topic(_topic(topic), _partitions(topic)).items():
                by_node.setdefault(node, []).append(_with(topic, **{field: some}))
        return [Part(node, _with(request, topics=topics)) for node, topics in by_node.items()] or [Part(home, request)]

    def _by_marker(self, request: Message, home: int) -> list[Part]:
        by_node: dict[int, list[Any]] = {}
        for marker in getattr(request, "markers"):  # noqa: B009 - of one type
            topics: dict[int, list[Any]] = {}
            for topic in marker.topics:
                for node, some in self._of_topic(topic.name, topic.partition_indexes).items():
                    topics.setdefault(node, []).append(_with(topic, partition_indexes=some))
            for node, found in (topics or {home: []}).items():
                by_node.setdefault(node, []).append(_with(marker, topics=found))
        return [Part(node, _with(request, markers=some)) for node, some in by_node.items()] or [Part(home, request)]

    def _of_topic(self, name: str, partitions: Iterable[Any]) -> dict[int, list[Any]]:
        by_node: dict[int, list[Any]] = {}
        for each in partitions:
            by_node.setdefault(self._node_of(name, _index(each)), []).append(each)
        return by_node

    # One connection

    def _accept(self) -> None:
        number = 0
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._open.append(client)
                # As one half of the clients may ask first.
                nodes = sorted(self._addresses)
                Thread(target=self._serve, args=(client, nodes[number % len(nodes)]), daemon=True).start()
                number += 1

    def _serve(self, client: socket.socket, home: int) -> None:
        links: dict[int, socket.socket] = {}
        try:
            while frame := _received(client):
                client.sendall(self._answered(links, home, frame))
        except OSError:
            pass
        finally:
            for each in (client, *links.values()):
                each.close()

    def _link(self, links: dict[int, socket.socket], node: int) -> socket.socket:
        if node not in links:
            links[node] = socket.create_connection(self._addresses[node])
            links[node].setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return links[node]

    def _asked(self, links: dict[int, socket.socket], node: int, frame: bytes) -> bytes:
        """Raise ConnectionError if the node hangs up."""
        link = self._link(links, node)
        link.sendall(_LENGTH.pack(len(frame)) + frame)
        answer = _received(link)
        if not answer:
            raise ConnectionError("the node hung up")
        return answer

    def _answered(self, links: dict[int, socket.socket], home: int, frame: bytes) -> bytes:
        try:
            header, position = decode_request_header(frame)
            kind, version = known_apis()[header.request_api_key].request, header.request_api_version
            request = decode(kind, version, frame[position:])
        except (KeyError, LookupError, ProtocolError):
            # The node says what it thinks of that.
            answer = self._asked(links, home, frame)
            return _LENGTH.pack(len(answer)) + answer
        parts = self.parts(request, home)
        answers = [self._asked(links, node, frame[:position] + bytes(encode(asked, version))) for node, asked in parts]
        answer = answers[0]
        response = response_type(kind)
        if kind.kafka.key != API_VERSIONS:
            start = 5 if version in response.kafka.flexible else 4
            decoded = [decode(response, version, each[start:]) for each in answers]
            joined = _joined(request, decoded)
            self._name_this_port(joined)
            answer = answer[:start] + bytes(encode(joined, version))
        return _LENGTH.pack(len(answer)) + answer

    def _name_this_port(self, response: Any) -> None:
        host, port = self.address
        for each in [response, *getattr(response, "coordinators", ())]:
            if getattr(each, "port", 0) > 0:
                each.node_id, each.host, each.port = _NODE, host, port
        if getattr(response, "controller_id", -1) >= 0:
            response.controller_id = _NODE
        brokers: Sequence[Any] = getattr(response, "brokers", ())
        for broker in brokers[:1]:
            broker.host, broker.port = host, port
            if hasattr(broker, "node_id"):
                broker.node_id = _NODE
            else:
                broker.broker_id = _NODE
        if brokers:
            response.brokers = brokers[:1]
        for topic in getattr(response, "topics", ()):
            for partition in getattr(topic, "partitions", ()):
                if getattr(partition, "leader_id", -1) >= 0:
                    partition.leader_id = _NODE
                    partition.replica_nodes = [_NODE] * bool(partition.replica_nodes)
                    partition.isr_nodes = [_NODE] * bool(partition.isr_nodes)


def _group_of(item: Any) -> str:
    return item if isinstance(item, str) else item.group_id


def _with(item: Any, **changes: Any) -> Any:
    kept = {name: getattr(item, name) for name in item.__struct_fields__}
    return type(item)(**kept | changes)


def _joined(request: Message, answers: list[Any]) -> Any:
    """Return the first answer, with what the others have besides."""
    first, *others = answers
    name = type(request).__name__
    field = _OF_ALL.get(name)
    if name in _OF_GROUPS:
        field = _OF_GROUPS[name][1]
    if field is not None:
        setattr(first, field, [each for answer in answers for each in getattr(answer, field)])
    if name in _OF_GROUPS and others:
        order = {_group_of(item): place for place, item in reversed([*enumerate(getattr(request, _OF_GROUPS[name][0]))])}
        getattr(first, _OF_GROUPS[name][1]).sort(key=lambda each: order[each.group_id])
    if name in _OF_PARTITIONS:
        asked = [(_topic(topic), _index(each)) for topic in getattr(request, "topics") for each in _partitions(topic)]  # noqa: B009
        places = {place: number for number, place in reversed([*enumerate(asked)])}
        for answer in others:
            found = getattr(answer, "responses", None) or answer.topics
            _join_topics(getattr(first, "responses", None) or first.topics, found, places)
    if name == "WriteTxnMarkersRequest":
        for marker in [marker for answer in others for marker in answer.markers]:
            known = next((each for each in first.markers if each.producer_id == marker.producer_id), None)
            if known is None:
                first.markers.append(marker)
            else:
                _join_topics(known.topics, marker.topics, {})
    return first


def _topic(topic: Any) -> str:
    name: str = getattr(topic, "topic", None) or topic.name
    return name


def _partitions(topic: Any) -> list[Any]:
    found: list[Any] = topic.partition_indexes if hasattr(topic, "partition_indexes") else topic.partitions
    return found


def _index(partition: Any) -> int:
    if isinstance(partition, int):
        return partition
    return int(getattr(partition, "partition_index", getattr(partition, "partition", 0)))


def _join_topics(topics: list[Any], others: Iterable[Any], order: Mapping[tuple[str, int], int]) -> None:
    for topic in others:
        known = next((each for each in topics if each.name == topic.name), None)
        if known is None:
            topics.append(topic)
        else:
            known.partitions += topic.partitions
            known.partitions.sort(key=lambda each: order.get((known.name, each.partition_index), each.partition_index))


def _received(connection: socket.socket) -> bytes:
    """Return the next frame, empty at the end."""
    data = b""
    while len(data) < 4 or len(data) < 4 + _LENGTH.unpack_from(data)[0]:
        size = 4 if len(data) < 4 else 4 + _LENGTH.unpack_from(data)[0]
        chunk = connection.recv(size - len(data))
        if not chunk:
            return b""
        data += chunk
    return data[4:]
