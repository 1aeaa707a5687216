"""Three Python clients behind one shape: a consumer in a group, and an admin. One class per library, scenarios know none of them.

A consumer is driven from one thread: ``poll`` now and then, the rest between polls. Clients in other languages are programs of
their own that speak ``member.py``'s lines; ``programs.py`` builds them.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
import time
from collections.abc import Callable, Coroutine, Iterable
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeVar

T = TypeVar("T")

SESSION_TIMEOUT_MS = 2000
HEARTBEAT_INTERVAL_MS = 300
POLL_MS = 100
# Of a server, for members of the protocol of KIP-848: short sessions, and no wait before an assignment.
OF_CONSUMER_GROUPS = {
    "group.consumer.min.session.timeout.ms": 1000,
    "group.consumer.session.timeout.ms": 5000,
    "group.consumer.min.heartbeat.interval.ms": 100,
    "group.consumer.heartbeat.interval.ms": 200,
    "group.consumer.assignment.interval.ms": 0,
}


class MemberOptions(NamedTuple):
    """How a member takes part. The names are those of the JSON that every program gets."""

    instance_id: str | None = None
    is_cooperative: bool = False
    session_timeout_ms: int = SESSION_TIMEOUT_MS
    heartbeat_interval_ms: int = HEARTBEAT_INTERVAL_MS
    # Of Kafka's names; confluent and java only.
    assignor: str | None = None
    # "consumer" is that of KIP-848, in which the server has the timeouts; confluent, java and franz-go only.
    protocol: str = "classic"
    # Subscribe to a regular expression that matches the topic alone; in the protocol of KIP-848 the server resolves it.
    has_regex: bool = False
    # With TLS: the paths of the trusted certificates, and of the client's private key with its certificate.
    trusted: str | None = None
    identity: str | None = None
    # With SASL, without TLS. With OAUTHBEARER, with TLS: the password is a token, and the user the URL of a file that has it.
    mechanism: str | None = None
    user: str | None = None
    password: str | None = None

    def sasl_settings(self) -> dict[str, object]:
        """Those of kafka-python and aiokafka."""
        if self.mechanism is None:
            return {}
        who = {"sasl_plain_username": self.user, "sasl_plain_password": self.password}
        return {"security_protocol": "SASL_PLAINTEXT", "sasl_mechanism": self.mechanism, **who}

    def tls(self) -> ssl.SSLContext | None:
        """The context of a client that takes one."""
        if self.trusted is None or self.identity is None:
            return None
        context = ssl.create_default_context(cafile=self.trusted)
        context.load_cert_chain(self.identity)
        return context

    def tls_settings(self) -> dict[str, object]:
        """The same for kafka-python and aiokafka."""
        context = self.tls()
        return {} if context is None else {"security_protocol": "SSL", "ssl_context": context}


def _confluent_login(options: MemberOptions) -> dict[str, object]:
    if options.mechanism == "OAUTHBEARER":

        def token(_config: str) -> tuple[str | None, float]:
            return options.password, time.time() + 60

        return {"security.protocol": "sasl_ssl", "sasl.mechanism": options.mechanism, "oauth_cb": token}
    if options.mechanism is None:
        return {}
    who = {"sasl.username": options.user, "sasl.password": options.password}
    return {"security.protocol": "sasl_plaintext", "sasl.mechanism": options.mechanism, **who}


class Ownership:
    """What a member owned, one after the other: the libraries call back when partitions come and go."""

    def __init__(self) -> None:
        self._owned: set[int] = set()
        self._changes: list[list[int]] = []

    def change(self, partitions: Iterable[int], *, is_mine: bool) -> None:
        self._owned = self._owned | set(partitions) if is_mine else self._owned - set(partitions)
        self._changes.append(sorted(self._owned))

    def take(self) -> list[list[int]]:
        changes, self._changes = self._changes, []
        return changes


class GroupConsumer(Protocol):
    """A member of a group that reads one topic."""

    def __init__(self, bootstrap: str, group: str, topic: str, options: MemberOptions) -> None: ...

    def poll(self) -> None:
        """Do what the library wants done every now and then; returns after POLL_MS at most, unless it rebalances."""

    def owned(self) -> list[list[int]]:
        """What it owned since it was last asked, one after the other."""

    def commit(self, offsets: dict[int, int]) -> None:
        """Returns when they are acknowledged, raises when they are not."""

    def committed(self, partitions: list[int]) -> dict[int, int | None]: ...

    def close(self) -> None:
        """Leave the group."""


class Admin(Protocol):
    def __init__(self, bootstrap: str) -> None: ...

    def create_topic(self, name: str, partitions: int) -> None:
        """Raises when it is refused."""

    def partitions_of(self, topic: str) -> int: ...

    def grow(self, topic: str, partitions: int) -> None:
        """Give a topic that many partitions; raises when it is refused."""

    def delete_topic(self, topic: str) -> None:
        """Raises when it is refused."""

    def set_topic(self, topic: str, name: str, value: str) -> None:
        """Change one setting; raises when it is refused."""

    def settings(self, topic: str) -> dict[str, str]:
        """All settings of a topic."""

    def groups(self) -> set[str]: ...

    def describe(self, group: str) -> tuple[str, int]:
        """State and number of members."""

    def committed(self, group: str, topic: str) -> dict[int, int]: ...

    def alter(self, group: str, topic: str, offsets: dict[int, int]) -> None:
        """Set positions of a group without members."""

    def delete(self, group: str) -> None:
        """Delete a group; raises when it is refused."""

    def close(self) -> None: ...


# --- confluent-kafka (librdkafka) ---


class ConfluentConsumer:
    def __init__(self, bootstrap: str, group: str, topic: str, options: MemberOptions) -> None:
        from confluent_kafka import Consumer

        self._topic = topic
        of_protocol: dict[str, object] = {"group.protocol": "consumer"}
        if options.protocol == "classic":
            of_protocol = {
                "session.timeout.ms": options.session_timeout_ms,
                "heartbeat.interval.ms": options.heartbeat_interval_ms,
                "partition.assignment.strategy": options.assignor
                or ("cooperative-sticky" if options.is_cooperative else "range"),
            }
        self._consumer = Consumer(
            {
                "bootstrap.servers": bootstrap,
                "group.id": group,
                "enable.auto.commit": False,
                "reconnect.backoff.ms": 20,
                "reconnect.backoff.max.ms": 200,
                "log_level": 0,
            }
            | of_protocol
            | ({"group.instance.id": options.instance_id} if options.instance_id else {})
            | ({"security.protocol": "ssl", "ssl.ca.location": options.trusted} if options.trusted else {})
            | (dict.fromkeys(("ssl.certificate.location", "ssl.key.location"), options.identity) if options.identity else {})
            | _confluent_login(options)
        )
        self._ownership = Ownership()
        gone = self._told(is_mine=False)
        # librdkafka takes a topic with a circumflex for an expression.
        subscribed = f"^{topic}$" if options.has_regex else topic
        self._consumer.subscribe([subscribed], on_assign=self._told(is_mine=True), on_revoke=gone, on_lost=gone)

    def _told(self, *, is_mine: bool) -> Callable[[Any, list[Any]], None]:
        return lambda _consumer, partitions: self._ownership.change((one.partition for one in partitions), is_mine=is_mine)

    def poll(self) -> None:
        self._consumer.poll(POLL_MS / 1000)

    def owned(self) -> list[list[int]]:
        return self._ownership.take()

    def commit(self, offsets: dict[int, int]) -> None:
        from confluent_kafka import KafkaException, TopicPartition

        wanted = [TopicPartition(self._topic, partition, offset) for partition, offset in offsets.items()]
        for done in self._consumer.commit(offsets=wanted, asynchronous=False):
            if done.error is not None:
                raise KafkaException(done.error)

    def committed(self, partitions: list[int]) -> dict[int, int | None]:
        from confluent_kafka import OFFSET_INVALID, KafkaException, TopicPartition

        answer = self._consumer.committed([TopicPartition(self._topic, partition) for partition in partitions], timeout=5)
        for one in answer:
            if one.error is not None:
                raise KafkaException(one.error)
        return {one.partition: None if one.offset == OFFSET_INVALID else one.offset for one in answer}

    def close(self) -> None:
        self._consumer.close()


class ConfluentAdmin:
    def __init__(self, bootstrap: str) -> None:
        from confluent_kafka.admin import AdminClient

        self._admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})

    def create_topic(self, name: str, partitions: int) -> None:
        from confluent_kafka.cimpl import NewTopic

        self._admin.create_topics([NewTopic(name, num_partitions=partitions, replication_factor=1)])[name].result(10)

    def partitions_of(self, topic: str) -> int:
        return len(self._admin.list_topics(topic, timeout=10).topics[topic].partitions)

    def grow(self, topic: str, partitions: int) -> None:
        from confluent_kafka.cimpl import NewPartitions

        self._admin.create_partitions([NewPartitions(topic, partitions)])[topic].result(10)

    def delete_topic(self, topic: str) -> None:
        self._admin.delete_topics([topic])[topic].result(10)

    def set_topic(self, topic: str, name: str, value: str) -> None:
        from confluent_kafka.admin import AlterConfigOpType, ConfigEntry, ConfigResource  # type: ignore[attr-defined]

        change = ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
        resource = ConfigResource("topic", topic, incremental_configs=[change])
        self._admin.incremental_alter_configs([resource])[resource].result(10)

    def settings(self, topic: str) -> dict[str, str]:
        from confluent_kafka.admin import ConfigResource  # type: ignore[attr-defined]

        resource = ConfigResource("topic", topic)
        return {name: entry.value for name, entry in self._admin.describe_configs([resource])[resource].result(10).items()}

    def groups(self) -> set[str]:
        return {group.group_id for group in self._admin.list_consumer_groups(request_timeout=10).result().valid}

    def describe(self, group: str) -> tuple[str, int]:
        described = self._admin.describe_consumer_groups([group], request_timeout=10)[group].result()
        return described.state.name.title().replace("_", ""), len(described.members)

    def committed(self, group: str, topic: str) -> dict[int, int]:
        from confluent_kafka import ConsumerGroupTopicPartitions

        answer = self._admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)], request_timeout=10)[
            group
        ].result()
        return {one.partition: one.offset for one in answer.topic_partitions if one.topic == topic}

    def alter(self, group: str, topic: str, offsets: dict[int, int]) -> None:
        from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition

        wanted = [TopicPartition(topic, partition, offset) for partition, offset in offsets.items()]
        self._admin.alter_consumer_group_offsets([ConsumerGroupTopicPartitions(group, wanted)])[group].result(10)

    def delete(self, group: str) -> None:
        self._admin.delete_consumer_groups([group])[group].result(10)

    def close(self) -> None:
        """librdkafka's admin goes with its object."""


# --- kafka-python ---


class KafkaPythonConsumer:
    def __init__(self, bootstrap: str, group: str, topic: str, options: MemberOptions) -> None:
        from kafka import ConsumerRebalanceListener, KafkaConsumer
        from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
        from kafka.coordinator.assignors.range import RangePartitionAssignor

        ownership = self._ownership = Ownership()

        class Told(ConsumerRebalanceListener):  # type: ignore[misc]  # the library has no types
            def on_partitions_assigned(self, assigned: Any) -> None:
                ownership.change((one.partition for one in assigned), is_mine=True)

            def on_partitions_revoked(self, revoked: Any) -> None:
                ownership.change((one.partition for one in revoked), is_mine=False)

        self._topic = topic
        self._join = partial(
            KafkaConsumer,
            bootstrap_servers=bootstrap,
            group_id=group,
            group_instance_id=options.instance_id,
            session_timeout_ms=options.session_timeout_ms,
            heartbeat_interval_ms=options.heartbeat_interval_ms,
            partition_assignment_strategy=[CooperativeStickyAssignor if options.is_cooperative else RangePartitionAssignor],
            enable_auto_commit=False,
            reconnect_backoff_ms=20,
            reconnect_backoff_max_ms=200,
            **options.tls_settings(),
            **options.sasl_settings(),
        )
        self._told = Told()
        self._subscribe()

    def _subscribe(self) -> None:
        self._consumer = self._join()
        self._consumer.subscribe([self._topic], listener=self._told)
        # kafka-python 3.0.12 rejoins when it sees the topic only after its first join; if that rejoin's SyncGroup is answered
        # between two polls, it forgets to finish and is mute for ever. So let it see the topic first.
        self._consumer.partitions_for_topic(self._topic)

    def poll(self) -> None:
        """kafka-python 3.0.12 loses its metadata loop for good, and raises, if a refresh fails that the loop did not begin itself
        (``ClusterMetadata._refresh_loop`` waits for it outside its ``try``). A program then begins anew, and so does this member.
        """
        from kafka.errors import KafkaConnectionError

        try:
            self._consumer.poll(timeout_ms=POLL_MS)
        except KafkaConnectionError as lost:
            logging.getLogger(__name__).warning("begins anew, because poll raised %r", lost)
            self._consumer.close(autocommit=False, timeout_ms=POLL_MS)
            self._told.on_partitions_revoked(list(self._consumer.assignment()))
            self._subscribe()

    def owned(self) -> list[list[int]]:
        return self._ownership.take()

    def commit(self, offsets: dict[int, int]) -> None:
        from kafka import TopicPartition
        from kafka.structs import OffsetAndMetadata

        self._consumer.commit(
            {TopicPartition(self._topic, partition): OffsetAndMetadata(offset, "", -1) for partition, offset in offsets.items()}
        )

    def committed(self, partitions: list[int]) -> dict[int, int | None]:
        from kafka import TopicPartition

        return {partition: self._consumer.committed(TopicPartition(self._topic, partition)) for partition in partitions}

    def close(self) -> None:
        self._consumer.close()


class KafkaPythonAdmin:
    def __init__(self, bootstrap: str) -> None:
        from kafka import KafkaAdminClient

        self._admin = KafkaAdminClient(bootstrap_servers=bootstrap)

    def create_topic(self, name: str, partitions: int) -> None:
        from kafka.admin import NewTopic

        self._admin.create_topics([NewTopic(name, num_partitions=partitions, replication_factor=1)])

    def partitions_of(self, topic: str) -> int:
        return len(self._admin.describe_topics([topic])[0]["partitions"])

    def grow(self, topic: str, partitions: int) -> None:
        self._admin.create_partitions({topic: partitions})

    def delete_topic(self, topic: str) -> None:
        self._admin.delete_topics([topic])

    def set_topic(self, topic: str, name: str, value: str) -> None:
        from kafka.admin import ConfigResource, ConfigResourceType

        told = self._admin.alter_configs([ConfigResource(ConfigResourceType.TOPIC, topic, configs={name: value})])
        if "Error" in str(told):
            raise RuntimeError(told)

    def settings(self, topic: str) -> dict[str, str]:
        from kafka.admin import ConfigResource, ConfigResourceType

        answer = self._admin.describe_configs([ConfigResource(ConfigResourceType.TOPIC, topic)], config_filter="all")
        return {name: config["value"] for name, config in answer["topic"][topic].items()}

    def groups(self) -> set[str]:
        return {group["group_id"] for group in self._admin.list_groups()}

    def describe(self, group: str) -> tuple[str, int]:
        described = self._admin.describe_groups([group])[group]
        return described["group_state"], len(described["members"])

    def committed(self, group: str, topic: str) -> dict[int, int]:
        answer = self._admin.list_group_offsets(group)[group]
        return {partition.partition: position.offset for partition, position in answer.items() if partition.topic == topic}

    def alter(self, group: str, topic: str, offsets: dict[int, int]) -> None:
        from kafka import TopicPartition
        from kafka.structs import OffsetAndMetadata

        wanted = {TopicPartition(topic, one): OffsetAndMetadata(offset, "", -1) for one, offset in offsets.items()}
        self._admin.alter_group_offsets(group, wanted)

    def delete(self, group: str) -> None:
        if (told := self._admin.delete_groups([group])[group]) != "OK":
            raise RuntimeError(told)

    def close(self) -> None:
        self._admin.close()


# --- aiokafka ---


class _OwnLoop:
    """aiokafka from synchronous code: its loop runs while something is awaited, which is nearly always."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()

    def _await(self, work: Coroutine[Any, Any, T]) -> T:
        return self._loop.run_until_complete(work)


class AiokafkaConsumer(_OwnLoop):
    def __init__(self, bootstrap: str, group: str, topic: str, options: MemberOptions) -> None:
        super().__init__()
        self._topic = topic
        self._consumer = self._await(self._start(bootstrap, group, options))

    async def _start(self, bootstrap: str, group: str, options: MemberOptions) -> Any:
        from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener

        ownership = self._ownership = Ownership()

        class Told(ConsumerRebalanceListener):  # type: ignore[misc]  # the library has no types
            def on_partitions_assigned(self, assigned: Any) -> None:
                ownership.change((one.partition for one in assigned), is_mine=True)

            def on_partitions_revoked(self, revoked: Any) -> None:
                ownership.change((one.partition for one in revoked), is_mine=False)

        consumer = AIOKafkaConsumer(
            bootstrap_servers=bootstrap,
            group_id=group,
            group_instance_id=options.instance_id,
            session_timeout_ms=options.session_timeout_ms,
            heartbeat_interval_ms=options.heartbeat_interval_ms,
            enable_auto_commit=False,
            **options.tls_settings(),
            **options.sasl_settings(),
        )
        consumer.subscribe([self._topic], listener=Told())
        await consumer.start()
        return consumer

    def poll(self) -> None:
        self._await(self._consumer.getmany(timeout_ms=POLL_MS))

    def owned(self) -> list[list[int]]:
        return self._ownership.take()

    def commit(self, offsets: dict[int, int]) -> None:
        from aiokafka import TopicPartition

        self._await(
            self._consumer.commit({TopicPartition(self._topic, partition): offset for partition, offset in offsets.items()})
        )

    def committed(self, partitions: list[int]) -> dict[int, int | None]:
        from aiokafka import TopicPartition

        return {one: self._await(self._consumer.committed(TopicPartition(self._topic, one))) for one in partitions}

    def close(self) -> None:
        self._await(self._consumer.stop())


class AiokafkaAdmin(_OwnLoop):
    def __init__(self, bootstrap: str) -> None:
        super().__init__()
        self._admin = self._await(self._start(bootstrap))

    async def _start(self, bootstrap: str) -> Any:
        from aiokafka.admin import AIOKafkaAdminClient

        admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap)
        await admin.start()
        return admin

    def create_topic(self, name: str, partitions: int) -> None:
        from aiokafka.admin import NewTopic

        self._refuse_errors(self._await(self._admin.create_topics([NewTopic(name, partitions, 1)])).topic_errors)

    def _refuse_errors(self, rows: Iterable[tuple[Any, ...]]) -> None:
        from aiokafka.errors import for_code

        for name, code, *_ in rows:
            if code:
                raise for_code(code)(name)

    def partitions_of(self, topic: str) -> int:
        return len(self._await(self._admin.describe_topics([topic]))[0]["partitions"])

    def grow(self, topic: str, partitions: int) -> None:
        from aiokafka.admin import NewPartitions

        answer = self._await(self._admin.create_partitions({topic: NewPartitions(partitions)}))
        self._refuse_errors(answer.topic_errors)

    def delete_topic(self, topic: str) -> None:
        self._refuse_errors(self._await(self._admin.delete_topics([topic])).topic_error_codes)

    def set_topic(self, topic: str, name: str, value: str) -> None:
        from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType

        resource = ConfigResource(ConfigResourceType.TOPIC, topic, configs={name: value})
        for answer in self._await(self._admin.alter_configs([resource])):
            self._refuse_errors((name, code) for code, _message, _type, name in answer.resources)

    def settings(self, topic: str) -> dict[str, str]:
        from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType

        [answer] = self._await(self._admin.describe_configs([ConfigResource(ConfigResourceType.TOPIC, topic)]))
        [(_code, _message, _type, _name, entries)] = answer.resources
        return {entry[0]: entry[1] for entry in entries}

    def groups(self) -> set[str]:
        return {group for group, _protocol in self._await(self._admin.list_consumer_groups())}

    def describe(self, group: str) -> tuple[str, int]:
        [response] = self._await(self._admin.describe_consumer_groups([group]))
        [described] = response.groups
        _error, _group, state, _protocol_type, _protocol, members = described[:6]
        return state, len(members)

    def committed(self, group: str, topic: str) -> dict[int, int]:
        answer = self._await(self._admin.list_consumer_group_offsets(group))
        return {partition.partition: position.offset for partition, position in answer.items() if partition.topic == topic}

    def alter(self, group: str, topic: str, offsets: dict[int, int]) -> None:
        raise NotImplementedError("aiokafka's admin has no such call")

    def delete(self, group: str) -> None:
        raise NotImplementedError("aiokafka's admin has no such call")

    def close(self) -> None:
        self._await(self._admin.close())
        self._loop.close()


# --- all records of a partition, by a consumer without a group ---

Records = list[tuple[bytes | None, bytes | None]]


def read_by_confluent(bootstrap: str, topic: str, partition: int) -> Records:
    from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition

    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "reader", "enable.auto.commit": False, "log_level": 0})
    try:
        _, end = consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=10)
        consumer.assign([TopicPartition(topic, partition, OFFSET_BEGINNING)])
        found: Records = []
        due = time.monotonic() + 60
        while len(found) < end and time.monotonic() < due:
            for message in consumer.consume(100, timeout=10):
                assert message.error() is None, message.error()
                found.append((message.key(), message.value()))
        return found
    finally:
        consumer.close()


def read_by_kafka_python(bootstrap: str, topic: str, partition: int) -> Records:
    from kafka import KafkaConsumer, TopicPartition

    consumer = KafkaConsumer(bootstrap_servers=bootstrap, group_id=None, enable_auto_commit=False)
    try:
        where = TopicPartition(topic, partition)
        consumer.assign([where])
        consumer.seek_to_beginning(where)
        end = consumer.end_offsets([where])[where]
        found: Records = []
        due = time.monotonic() + 60
        while len(found) < end and time.monotonic() < due:
            for records in consumer.poll(timeout_ms=1000).values():
                found += [(record.key, record.value) for record in records]
        return found
    finally:
        consumer.close()


def read_by_aiokafka(bootstrap: str, topic: str, partition: int) -> Records:
    async def read() -> Records:
        from aiokafka import AIOKafkaConsumer, TopicPartition

        consumer = AIOKafkaConsumer(bootstrap_servers=bootstrap, group_id=None, enable_auto_commit=False)
        await consumer.start()
        try:
            where = TopicPartition(topic, partition)
            consumer.assign([where])
            await consumer.seek_to_beginning(where)
            found: Records = []
            end = (await consumer.end_offsets([where]))[where]
            due = time.monotonic() + 60
            while len(found) < end and time.monotonic() < due:
                for records in (await consumer.getmany(timeout_ms=1000)).values():
                    found += [(record.key, record.value) for record in records]
            return found
        finally:
            await consumer.stop()

    return asyncio.run(read())


READERS: dict[str, Callable[[str, str, int], Records]] = {
    "confluent-kafka": read_by_confluent,
    "kafka-python": read_by_kafka_python,
    "aiokafka": read_by_aiokafka,
}
CONSUMERS: dict[str, type[GroupConsumer]] = {
    "confluent-kafka": ConfluentConsumer,
    "kafka-python": KafkaPythonConsumer,
    "aiokafka": AiokafkaConsumer,
}
ADMINS: dict[str, type[Admin]] = {
    "confluent-kafka": ConfluentAdmin,
    "kafka-python": KafkaPythonAdmin,
    "aiokafka": AiokafkaAdmin,
}
