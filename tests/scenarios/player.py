"""What the lines of a transcript ask for: clients that remember their answers, and the requests they make of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

from protocol.error_codes import ErrorCode
from protocol.messages.heartbeat import HeartbeatRequest
from protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic
from protocol.messages.offset_delete import OffsetDeleteRequest, OffsetDeleteRequestPartition, OffsetDeleteRequestTopic
from protocol.messages.offset_fetch import OffsetFetchRequestGroup, OffsetFetchRequestTopics
from protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from tests.scenarios.wording import (
    subscribed_to,
    text_of_commit,
    text_of_delete,
    text_of_error,
    text_of_join,
    text_of_leave,
    text_of_sync,
)

Words = dict[str, str]

LONG_METADATA = "x" * 5000


class Api(NamedTuple):
    """What a transcript calls an API, and the version it is asked at unless the line says otherwise."""

    name: str
    newest: int


JOIN = Api("join", 9)
SYNC = Api("sync", 5)
HEARTBEAT = Api("heartbeat", 4)
LEAVE = Api("leave", 5)
COMMIT = Api("commit", 9)
FETCH = Api("fetch", 9)
DELETE = Api("delete", 2)
FORGET = Api("forget", 0)


class Client:
    """What a client remembers between its requests."""

    def __init__(self, name: str, session: str = "10000", rebalance: str = "30000") -> None:
        self.name = name
        self.member_id = ""
        self.generation_id = -1
        self.protocol_type = "consumer"
        self.protocol_name = ""
        self.protocols = f"range:{name.lower()}"
        self.instance_id: str | None = None
        self.session = session
        self.rebalance = rebalance


class Player(ABC):
    """Turns the lines of clients into requests; what they are sent to is a subclass's business."""

    def __init__(self) -> None:
        self.clients: dict[str, Client] = {}

    @abstractmethod
    def _send(self, client: Client, api: Api, request: Any, words: Words, tell: Callable[[Any], str]) -> None:
        """Send a request; ``tell`` puts the response into words, and has the client remember what it says."""

    @abstractmethod
    def _fetch(self, client: Client, request: OffsetFetchRequestGroup, words: Words) -> None:
        """Ask for the offsets of one group, the stable ones if the words say so."""

    def _new_client(self, name: str) -> Client:
        return Client(name)

    def request(self, name: str, plain: list[str], words: Words) -> None:
        """Have the client of that name do what the rest of its line says."""
        client = self.clients.setdefault(name, self._new_client(name))
        _REQUESTS[plain[0]](self, client, ["" if word == "''" else word for word in plain[1:]], words)

    def _protocol(self, client: Client, text: str) -> JoinGroupRequestProtocol:
        name, _, metadata = text.partition(":")
        is_subscription = metadata.startswith("[")
        return JoinGroupRequestProtocol(name, subscribed_to(metadata[1:-1].split("+")) if is_subscription else metadata.encode())

    def _member_id(self, name: str) -> str:
        """A client's member id by its name; anything else stands for itself."""
        return self.clients[name].member_id if name in self.clients else name

    def join(self, client: Client, plain: list[str], words: Words) -> None:
        client.protocols = words.get("protocols", client.protocols)
        client.protocol_type = words.get("type", client.protocol_type)
        client.session = words.get("session", client.session)
        client.rebalance = words.get("rebalance", client.rebalance)
        client.instance_id = words.get("instance", client.instance_id)
        member_id = words.get("member", client.member_id)
        request = JoinGroupRequest(
            plain[0] if plain else "",
            int(client.session),
            int(client.rebalance),
            "" if member_id == "new" else self._member_id(member_id),
            client.instance_id,
            client.protocol_type,
            [self._protocol(client, text) for text in client.protocols.split(",") if text],
            words.get("reason"),
        )

        def tell(response: JoinGroupResponse) -> str:
            if response.error_code in {ErrorCode.NONE, ErrorCode.MEMBER_ID_REQUIRED}:
                client.member_id = response.member_id
            if response.error_code == ErrorCode.NONE:
                client.generation_id = response.generation_id
                client.protocol_name = response.protocol_name or ""
            return text_of_join(response)

        self._send(client, JOIN, request, words, tell)

    def enter(self, client: Client, plain: list[str], words: Words) -> None:
        """Join, and come back with the member id if that is asked for."""
        before = client.member_id
        self.join(client, plain, words)
        if client.member_id != before:
            self.join(client, plain, {})

    def sync(self, client: Client, plain: list[str], words: Words) -> None:
        given = [pair.split(":", 1) for pair in words.get("assign", "").split(",") if pair]
        protocol_type, protocol_name = words.get("type", client.protocol_type), words.get("protocol", client.protocol_name)
        request = SyncGroupRequest(
            plain[0] if plain else "",
            int(words.get("gen", client.generation_id)),
            self._member_id(words.get("member", client.member_id)),
            words.get("instance", client.instance_id),
            None if protocol_type == "-" else protocol_type,
            None if protocol_name == "-" else protocol_name,
            [SyncGroupRequestAssignment(self._member_id(name), content.encode()) for name, content in given],
        )
        self._send(client, SYNC, request, words, text_of_sync)

    def heartbeat(self, client: Client, plain: list[str], words: Words) -> None:
        request = HeartbeatRequest(
            plain[0] if plain else "",
            int(words.get("gen", client.generation_id)),
            self._member_id(words.get("member", client.member_id)),
            words.get("instance", client.instance_id),
        )
        self._send(client, HEARTBEAT, request, words, text_of_error)

    def leave(self, client: Client, plain: list[str], words: Words) -> None:
        identities = []
        for name in words.get("members", client.name).split(","):
            member, _, instance = name.partition("/")
            identities.append(MemberIdentity(self._member_id(member), instance or None, words.get("reason")))
        request = LeaveGroupRequest(plain[0] if plain else "", identities[0].member_id, identities)
        self._send(client, LEAVE, request, words, text_of_leave)

    def commit(self, client: Client, plain: list[str], words: Words) -> None:
        topics: dict[str, list[OffsetCommitRequestPartition]] = {}
        for position in plain[1:]:
            name, partition, rest = position.split(":", 2)
            offset, _, metadata = rest.partition("/")
            content = LONG_METADATA if metadata == "long" else metadata
            topics.setdefault(name, []).append(
                OffsetCommitRequestPartition(
                    int(partition), int(offset), int(words.get("epoch", -1)), None if content == "-" else content
                )
            )
        is_simple = words.get("member") == "simple"
        request = OffsetCommitRequest(
            plain[0],
            -1 if is_simple else int(words.get("gen", client.generation_id)),
            "" if is_simple else self._member_id(words.get("member", client.member_id)),
            words.get("instance", None if is_simple else client.instance_id),
            int(words.get("retention", -1)),
            [OffsetCommitRequestTopic(name, partitions=partitions) for name, partitions in topics.items()],
        )
        self._send(client, COMMIT, request, words, text_of_commit)

    def fetch(self, client: Client, plain: list[str], words: Words) -> None:
        topics: dict[str, list[int]] = {}
        for position in plain[1:]:
            name, partition = position.split(":")
            topics.setdefault(name, []).append(int(partition))
        asked = [OffsetFetchRequestTopics(name, partition_indexes=indexes) for name, indexes in topics.items()]
        request = OffsetFetchRequestGroup(plain[0], topics=asked or None)
        self._fetch(client, request, words)

    def delete(self, client: Client, plain: list[str], words: Words) -> None:
        self._send(client, DELETE, plain, words, text_of_delete)

    def forget(self, client: Client, plain: list[str], words: Words) -> None:
        topics: dict[str, list[OffsetDeleteRequestPartition]] = {}
        for position in plain[1:]:
            name, partition = position.split(":")
            topics.setdefault(name, []).append(OffsetDeleteRequestPartition(int(partition)))
        request = OffsetDeleteRequest(plain[0], [OffsetDeleteRequestTopic(*topic) for topic in topics.items()])
        self._send(client, FORGET, request, words, text_of_commit)


def words_of(line: str) -> tuple[str, list[str], Words]:
    """A line's first word, the plain ones after it, and those of the form name=value."""
    first, *rest = line.split()
    return first, [word for word in rest if "=" not in word], dict(word.split("=", 1) for word in rest if "=" in word)


_REQUESTS: dict[str, Callable[[Any, Client, list[str], Words], None]] = {
    "join": Player.join,
    "enter": Player.enter,
    "sync": Player.sync,
    "heartbeat": Player.heartbeat,
    "leave": Player.leave,
    "commit": Player.commit,
    "fetch": Player.fetch,
    "delete": Player.delete,
    "forget": Player.forget,
}
