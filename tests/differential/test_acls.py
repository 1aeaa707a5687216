"""What users with different ACLs are answered: the same by a broker with Kafka's authorizer, request by request."""

from __future__ import annotations

import contextlib
import copy
from functools import partial
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from protocol.fields import Message
from protocol.messages.create_acls import CreateAclsRequest, CreateAclsResponse
from protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest, CreateTopicsResponse
from protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from protocol.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from tests.differential.acl_cases import GROUPS, IDS, TOPICS, TRANSACTIONS, USERS, Case, cases, creations
from tests.support.client import Client, response_type
from tests.support.eventually import eventually
from tests.support.guarded import AUTHORITY, DENIALS, PROPERTIES, Guarded
from tests.support.kafka_broker import KafkaBroker
from tests.support.ports import free_port
from tests.support.simple_requests import commit_alone
from tests.support.trusting import trusting

# What the rights of a user have nothing to do with: a server's own addresses, ids and positions, and the values of settings.
IGNORED: Final = {
    "aborted_transactions", "brokers", "cluster_id", "configs", "controller_id", "current_leader", "eligible_leader_replicas",
    "high_watermark", "host", "isr_nodes", "last_known_elr", "last_stable_offset", "leader_epoch", "leader_id", "log_start_offset",
    "node_endpoints", "node_id", "offline_replicas", "port", "preferred_read_replica", "producer_id", "rack", "records",
    "replica_nodes", "throttle_time_ms", "topic_id",
}  # fmt: skip
# Kafka creates it when a share group is described.
_SHARE_STATE: Final = "__share_group_state"
ALIKE: Final = {
    "offsets.topic.num.partitions": 5,
    "transaction.state.log.num.partitions": 1,
    "auto.create.topics.enable": "false",
}


class Side:
    """One of the two servers. Each user has a connection."""

    def __init__(self, address: tuple[str, int], keys: Path) -> None:
        self._address = address
        self._keys = keys
        self._clients: dict[str, Client] = {}
        self._ids: dict[str, bytes] = {}

    def client(self, user: str) -> Client:
        if user not in self._clients:
            tls = trusting(AUTHORITY, AUTHORITY.issue(user), self._keys)
            self._clients[user] = Client.over_tls(self._address, tls)
        return self._clients[user]

    def prepare(self) -> None:
        """Create topics, offsets, transactional ids and entries, as ``admin``."""
        admin = self.client("admin")
        admin.ask(CreateTopicsRequest([CreatableTopic(name, 1, 1) for name in TOPICS]), 7, CreateTopicsResponse)
        eventually(self._are_topics_known)
        for key_type, keys in ((0, GROUPS), (1, TRANSACTIONS)):
            for key in keys:
                eventually(partial(self._is_found, key, key_type))
        for group in GROUPS:
            for topic in TOPICS:
                eventually(partial(self._is_committed, group, topic))
        for transactional_id in TRANSACTIONS:
            eventually(partial(self._is_initialized, transactional_id))
        created = admin.ask(CreateAclsRequest(creations()), 3, CreateAclsResponse)
        assert {each.error_code for each in created.results} == {0}

    def _is_found(self, key: str, key_type: int) -> bool:
        answer = self.client("admin").ask(FindCoordinatorRequest(key, key_type), 3, FindCoordinatorResponse)
        return answer.error_code == 0

    def _is_committed(self, group: str, topic: str) -> bool:
        return commit_alone(self.client("admin"), group, topic, {0: 7}) == {0: 0}

    def _is_initialized(self, transactional_id: str) -> bool:
        answer = self.client("admin").ask(InitProducerIdRequest(transactional_id, 60_000), 4, InitProducerIdResponse)
        return answer.error_code == 0

    def _are_topics_known(self) -> bool:
        asked = MetadataRequest([MetadataRequestTopic(name=name) for name in TOPICS])
        found = self.client("admin").ask(asked, 12, MetadataResponse).topics
        self._ids = {topic.name or "": topic.topic_id for topic in found}
        return all(topic.error_code == 0 for topic in found)

    def answer(self, user: str, case: Case) -> Any:
        """Return what a user is told, in the form in which both servers are compared."""
        request = copy.deepcopy(case.request)
        _put_ids(request, self._ids)
        return _told(self.client(user).ask(request, case.version, response_type(type(request))))


def _put_ids(part: Any, ids: dict[str, bytes]) -> None:
    if isinstance(part, list):
        for each in part:
            _put_ids(each, ids)
    elif isinstance(part, msgspec.Struct):
        for name in part.__struct_fields__:
            value = getattr(part, name)
            if name == "topic_id" and value in IDS:
                setattr(part, name, ids[IDS[value]])
            _put_ids(value, ids)


def _told(part: Any) -> Any:
    if isinstance(part, list):
        return sorted((_told(each) for each in part if not _is_share_state(each)), key=repr)
    if not isinstance(part, msgspec.Struct):
        return part
    ignored = IGNORED
    # Kafka's message for the cluster has the request as a Java object.
    if getattr(part, "error_code", 0) not in DENIALS - {31}:
        ignored = ignored | {"error_message"}
    return {name: _told(getattr(part, name)) for name in part.__struct_fields__ if name not in ignored}


def _is_share_state(part: Any) -> bool:
    return _SHARE_STATE in (getattr(part, "name", None), getattr(part, "resource_name", None))


def _name(request: Message) -> str:
    return type(request).__name__


@pytest.mark.live
def test_users_are_answered_as_a_broker_answers_them(tmp_path: Path) -> None:
    """Every user sends every request."""
    port = free_port()
    keys = tmp_path / "kafka-keys"
    keys.mkdir()
    secure = {name: value for name, value in PROPERTIES.items() if name not in ("listeners", "topics")} | {
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,MUTUAL:SSL",
        "super.users": "User:admin;User:ANONYMOUS",
        "ssl.keystore.type": "PEM",
        "ssl.truststore.type": "PEM",
        "ssl.keystore.location": AUTHORITY.issue("server").write(keys / "server.pem"),
        "ssl.truststore.location": AUTHORITY.write(keys / "trusted.pem"),
    }
    server = Guarded(tmp_path / "ours")
    del server.overrides["topics"]
    server.overrides |= ALIKE
    with KafkaBroker(tmp_path / "kafka") as broker, server, contextlib.ExitStack():
        broker.more_listeners = (f"MUTUAL://127.0.0.1:{port}",)
        broker.start(secure | ALIKE)
        theirs, ours = Side(("127.0.0.1", port), keys), Side(("127.0.0.1", server.listeners["MUTUAL"][0]), server.keys)
        for side in (theirs, ours):
            side.prepare()

        different = {}
        denied = 0
        for user in ("admin", *USERS):
            for place, case in enumerate(cases()):
                expected, found = theirs.answer(user, case), ours.answer(user, case)
                denied += any(f"'error_code': {int(code)}" in str(expected) for code in DENIALS)
                if found != expected:
                    different[user, place, _name(case.request), case.version] = (expected, found)

    assert different == {}
    assert denied > 300
