"""Three client libraries behind one shape: a consumer in a group, and an admin. One class per library, scenarios know none of them.

A consumer is driven from one thread: ``poll`` now and then, the rest between polls.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, Protocol, TypeVar

T = TypeVar("T")

SESSION_TIMEOUT_MS = 2000
HEARTBEAT_INTERVAL_MS = 300
POLL_MS = 100


class GroupConsumer(Protocol):
    """A member of a group that reads one topic."""

    def __init__(self, bootstrap: str, group: str, topic: str) -> None: ...

    def poll(self) -> None:
        """Do what the library wants done every now and then; returns after POLL_MS at most, unless it rebalances."""

    def owned(self) -> list[int]: ...

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

    def groups(self) -> set[str]: ...

    def describe(self, group: str) -> tuple[str, int]:
        """State and number of members."""

    def committed(self, group: str, topic: str) -> dict[int, int]: ...

    def close(self) -> None: ...


# --- confluent-kafka (librdkafka) ---


class ConfluentConsumer:
    def __init__(self, bootstrap: str, group: str, topic: str) -> None:
        from confluent_kafka import Consumer

        self._topic = topic
        self._consumer = Consumer(
            {
                "bootstrap.servers": bootstrap,
                "group.id": group,
                "session.timeout.ms": SESSION_TIMEOUT_MS,
                "heartbeat.interval.ms": HEARTBEAT_INTERVAL_MS,
                "enable.auto.commit": False,
                "reconnect.backoff.ms": 20,
                "reconnect.backoff.max.ms": 200,
                "log_level": 0,
            }
        )
        self._consumer.subscribe([topic])

    def poll(self) -> None:
        self._consumer.poll(POLL_MS / 1000)

    def owned(self) -> list[int]:
        return sorted(partition.partition for partition in self._consumer.assignment())

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

    def close(self) -> None:
        """librdkafka's admin goes with its object."""


# --- kafka-python ---


class KafkaPythonConsumer:
    def __init__(self, bootstrap: str, group: str, topic: str) -> None:
        from kafka import KafkaConsumer

        self._topic = topic
        self._consumer = KafkaConsumer(
            topic,
            bootstrap_servers=bootstrap,
            group_id=group,
            session_timeout_ms=SESSION_TIMEOUT_MS,
            heartbeat_interval_ms=HEARTBEAT_INTERVAL_MS,
            enable_auto_commit=False,
            reconnect_backoff_ms=20,
            reconnect_backoff_max_ms=200,
        )
        # kafka-python 3.0.12 rejoins when it sees the topic only after its first join; if that rejoin's SyncGroup is answered between
        # two polls, it forgets to finish and is mute for ever. So let it see the topic first.
        self._consumer.partitions_for_topic(topic)

    def poll(self) -> None:
        self._consumer.poll(timeout_ms=POLL_MS)

    def owned(self) -> list[int]:
        return sorted(partition.partition for partition in self._consumer.assignment())

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

    def groups(self) -> set[str]:
        return {group["group_id"] for group in self._admin.list_groups()}

    def describe(self, group: str) -> tuple[str, int]:
        described = self._admin.describe_groups([group])[group]
        return described["group_state"], len(described["members"])

    def committed(self, group: str, topic: str) -> dict[int, int]:
        answer = self._admin.list_group_offsets(group)[group]
        return {partition.partition: position.offset for partition, position in answer.items() if partition.topic == topic}

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
    def __init__(self, bootstrap: str, group: str, topic: str) -> None:
        super().__init__()
        self._topic = topic
        self._consumer = self._await(self._start(bootstrap, group))

    async def _start(self, bootstrap: str, group: str) -> Any:
        from aiokafka import AIOKafkaConsumer

        consumer = AIOKafkaConsumer(
            self._topic,
            bootstrap_servers=bootstrap,
            group_id=group,
            session_timeout_ms=SESSION_TIMEOUT_MS,
            heartbeat_interval_ms=HEARTBEAT_INTERVAL_MS,
            enable_auto_commit=False,
        )
        await consumer.start()
        return consumer

    def poll(self) -> None:
        self._await(self._consumer.getmany(timeout_ms=POLL_MS))

    def owned(self) -> list[int]:
        return sorted(partition.partition for partition in self._consumer.assignment())

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

    def close(self) -> None:
        self._await(self._admin.close())
        self._loop.close()


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
