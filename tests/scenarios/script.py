"""Plays the input lines of a transcript on a GroupShard, and puts what happens into words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from coordinator_server.config import Config, load
from coordinator_server.group.shard import GroupShard
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.provenance import Provenance
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode
from protocol.messages.heartbeat import HeartbeatRequest
from protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic
from protocol.messages.offset_delete import OffsetDeleteRequest, OffsetDeleteRequestPartition, OffsetDeleteRequestTopic
from protocol.messages.offset_fetch import OffsetFetchRequestGroup, OffsetFetchRequestTopics
from protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from tests.scenarios.told import (
    subscribed_to,
    told_commit,
    told_delete,
    told_error,
    told_fetch,
    told_group,
    told_join,
    told_leave,
    told_provenance,
    told_record,
    told_sync,
)
from tests.support.group import FakeReply, GroupLog, Operation

Words = dict[str, str]

LONG_METADATA = "x" * 5000


class Api(NamedTuple):
    """What a request is sent to, and the version it is sent at."""

    name: str
    operation: Operation
    newest: int


JOIN = Api("join", GroupShard.join_group, 9)
SYNC = Api("sync", GroupShard.sync_group, 5)
HEARTBEAT = Api("heartbeat", GroupShard.heartbeat, 4)
LEAVE = Api("leave", GroupShard.leave_group, 5)
COMMIT = Api("commit", GroupShard.commit_offset, 9)
FETCH = Api("fetch", GroupShard.fetch_stable_offsets, 9)
DELETE = Api("delete", GroupShard.delete_groups, 2)
FORGET = Api("forget", GroupShard.delete_offsets, 0)


class Client:
    """What a client remembers between its requests."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.member_id = ""
        self.generation_id = -1
        self.protocol_type = "consumer"
        self.protocol_name = ""
        self.protocols = f"range:{name.lower()}"
        self.instance_id: str | None = None
        self.session = "10000"
        self.rebalance = "30000"


class Script:
    """One shard, its clients, and the lines that came of the last input."""

    def __init__(self, config: Config) -> None:
        self._log = GroupLog(config, self._on_record)
        self._clients: dict[str, Client] = {}
        self._lines: list[str] = []
        self._time = ""
        self._is_telling_why = False

    def play(self, line: str) -> list[str]:
        """Do what the line says; the lines that tell what came of it."""
        self._lines = []
        first, *rest = line.split()
        words = dict(word.split("=", 1) for word in rest if "=" in word)
        plain = [word for word in rest if "=" not in word]
        if first in {"wait", "jump", "hold", "flush", "release", "fail", "restart", "unload", "why"}:
            self._control(first, plain, words)
        elif first == "describe":
            self._describe(plain[0])
        elif first == "list":
            self._list(words)
        elif first == "expiring":
            self._expiring(plain[0])
        else:
            client = self._clients.setdefault(first, Client(first))
            _REQUESTS[plain[0]](self, client, ["" if word == "''" else word for word in plain[1:]], words)
        self._log.advance(0)
        assert self._log.hard_state() == self._log.replayed_state()
        return self._lines

    def _control(self, what: str, plain: list[str], words: Words) -> None:
        log = self._log
        if what == "wait":
            log.advance(int(plain[0]), self._on_time)
            self._time = ""
        elif what == "jump":
            log.clock.jump_wall(int(plain[0]))
        elif what == "fail":
            log.fail(ErrorCode[plain[0]] if plain else ErrorCode.NOT_COORDINATOR)
        elif what == "restart":
            log.config = load({"group.initial.rebalance.delay.ms": "0", **words})
            log.restart()
        elif what == "unload":
            log.shard.on_unloaded()
        elif what == "why":
            self._is_telling_why = True
        else:
            log.is_holding = what != "release" and (what == "hold" or log.is_holding)
            if what != "hold":
                log.flush()

    def _on_time(self, ms: int) -> None:
        self._time = f"+{ms} "

    def _say(self, line: str) -> None:
        self._lines.append((self._time + line).rstrip())

    def _send(self, client: Client, api: Api, request: Any, words: Words, tell: Callable[[Any], str]) -> None:
        def on_answer(reply: FakeReply) -> None:
            what = reply.error.name if reply.error is not None else tell(reply.response)
            self._say(f"{client.name} {api.name} {what}")

        version = int(words.get("v", api.newest))
        self._log.run(api.operation, request, version=version, client_id=client.name, on_answer=on_answer)

    def _member_id(self, name: str) -> str:
        """A client's member id by its name; anything else stands for itself."""
        return self._clients[name].member_id if name in self._clients else name

    def _on_record(self, offset: int, record: CoordinatorRecord, provenance: Provenance | None) -> None:
        self._say(f"log @{offset} {told_record(record)}")
        if self._is_telling_why and provenance is not None:
            self._say(f"why @{offset} {told_provenance(provenance)}")

    # --- requests

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
            [_protocol(text) for text in client.protocols.split(",") if text],
            words.get("reason"),
        )

        def tell(response: JoinGroupResponse) -> str:
            if response.error_code in {ErrorCode.NONE, ErrorCode.MEMBER_ID_REQUIRED}:
                client.member_id = response.member_id
            if response.error_code == ErrorCode.NONE:
                client.generation_id = response.generation_id
                client.protocol_name = response.protocol_name or ""
            return told_join(response)

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
        self._send(client, SYNC, request, words, told_sync)

    def heartbeat(self, client: Client, plain: list[str], words: Words) -> None:
        request = HeartbeatRequest(
            plain[0] if plain else "",
            int(words.get("gen", client.generation_id)),
            self._member_id(words.get("member", client.member_id)),
            words.get("instance", client.instance_id),
        )
        self._send(client, HEARTBEAT, request, words, told_error)

    def leave(self, client: Client, plain: list[str], words: Words) -> None:
        identities = []
        for name in words.get("members", client.name).split(","):
            member, _, instance = name.partition("/")
            identities.append(MemberIdentity(self._member_id(member), instance or None, words.get("reason")))
        request = LeaveGroupRequest(plain[0] if plain else "", identities[0].member_id, identities)
        self._send(client, LEAVE, request, words, told_leave)

    def commit(self, client: Client, plain: list[str], words: Words) -> None:
        topics: dict[str, list[OffsetCommitRequestPartition]] = {}
        for position in plain[1:]:
            name, partition, rest = position.split(":", 2)
            offset, _, metadata = rest.partition("/")
            content = LONG_METADATA if metadata == "long" else metadata
            topics.setdefault(name, []).append(
                OffsetCommitRequestPartition(int(partition), int(offset), committed_metadata=None if content == "-" else content)
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
        self._send(client, COMMIT, request, words, told_commit)

    def fetch(self, client: Client, plain: list[str], words: Words) -> None:
        topics: dict[str, list[int]] = {}
        for position in plain[1:]:
            name, partition = position.split(":")
            topics.setdefault(name, []).append(int(partition))
        asked = [OffsetFetchRequestTopics(name, partition_indexes=indexes) for name, indexes in topics.items()]
        request = OffsetFetchRequestGroup(plain[0], topics=asked or None)
        if "stable" in words:
            self._send(client, FETCH, request, words, told_fetch)
        else:
            answer = self._log.shard.fetch_offsets(self._log.committed_offset, request)
            self._say(f"{client.name} fetch {told_fetch(answer)}")

    def delete(self, client: Client, plain: list[str], words: Words) -> None:
        self._send(client, DELETE, plain, words, told_delete)

    def forget(self, client: Client, plain: list[str], words: Words) -> None:
        topics: dict[str, list[OffsetDeleteRequestPartition]] = {}
        for position in plain[1:]:
            name, partition = position.split(":")
            topics.setdefault(name, []).append(OffsetDeleteRequestPartition(int(partition)))
        request = OffsetDeleteRequest(plain[0], [OffsetDeleteRequestTopic(*topic) for topic in topics.items()])
        self._send(client, FORGET, request, words, told_commit)

    def _expiring(self, group_id: str) -> None:
        now = self._log.clock.wall_ms()
        rows = self._log.shard.expiring(self._log.committed_offset, group_id)
        self._say("expiring " + " ".join(f"{row.topic}:{row.partition}:+{(row.at_ms - now) // 60_000}min" for row in rows))

    def _describe(self, group_id: str) -> None:
        try:
            group = self._log.shard.describe_group(self._log.committed_offset, group_id)
        except CoordinatorError as refused:
            self._say(f"describe {refused}")
            return
        self._say(f"describe {told_group(group)}")

    def _list(self, words: Words) -> None:
        states, types = ([part for part in words.get(key, "").split(",") if part] for key in ("states", "types"))
        groups = self._log.shard.list_groups(self._log.committed_offset, states, types)
        rows = sorted(f"{row.group_id}:{row.group_state}:{row.group_type}:{row.protocol_type}" for row in groups)
        self._say(f"list [{' '.join(rows)}]")


_REQUESTS: dict[str, Callable[[Script, Client, list[str], Words], None]] = {
    "join": Script.join,
    "enter": Script.enter,
    "sync": Script.sync,
    "heartbeat": Script.heartbeat,
    "leave": Script.leave,
    "commit": Script.commit,
    "fetch": Script.fetch,
    "delete": Script.delete,
    "forget": Script.forget,
}


def _protocol(text: str) -> JoinGroupRequestProtocol:
    name, _, metadata = text.partition(":")
    is_subscription = metadata.startswith("[")
    return JoinGroupRequestProtocol(name, subscribed_to(metadata[1:-1].split("+")) if is_subscription else metadata.encode())
