"""Transactional producers of stock libraries: Java's (transactions of version 2), librdkafka's (version 1),
and franz-go's (either).
"""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from tests.interop.crew import ClientProcess, Refused
from tests.interop.programs import command_of, java_command

TIMEOUT_MS = 2_000
# A call of a library may take 20 seconds.
PATIENCE_S = 25


class Transactional(Protocol):
    """A producer of a library."""

    def call(self, name: str, argument: object = None) -> object:
        """False if a commit has become an abort. Raises Refused, which says why."""

    def close(self) -> None: ...


class ProducerProcess:
    """A producer in a process of its own, which is killed when a call does not return:
    librdkafka's may not after a lost connection.
    """

    def __init__(self, command: Sequence[str]) -> None:
        self._process = ClientProcess(command)

    def call(self, name: str, argument: object = None) -> object:
        try:
            return self._process.call(name, argument, PATIENCE_S)
        except AssertionError:
            self.kill()
            raise Refused(f"{name} does not return") from None

    def kill(self) -> None:
        """Every call is refused from now on."""
        self._process.die()

    def send_signal(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def close(self) -> None:
        self._process.clean_up()


def java_producer(bootstrap: str, transactional_id: str) -> ProducerProcess:
    return ProducerProcess(java_command("Transactional", bootstrap, transactional_id, str(TIMEOUT_MS)))


def confluent_process(bootstrap: str, transactional_id: str) -> ProducerProcess:
    return ProducerProcess([sys.executable, "-m", "tests.interop.transactional", bootstrap, transactional_id])


def franz_producer(bootstrap: str, transactional_id: str, version: int = 2) -> ProducerProcess:
    """It also moves the group ``session_of`` its id."""
    return ProducerProcess([*command_of("franz-go"), "transactional", bootstrap, transactional_id, str(TIMEOUT_MS), str(version)])


def session_of(transactional_id: str) -> str:
    """The group whose offsets a producer of franz-go moves in every transaction."""
    return f"{transactional_id}-session"


class ConfluentProducer:
    def __init__(self, bootstrap: str, transactional_id: str) -> None:
        import confluent_kafka

        settings = {"bootstrap.servers": bootstrap, "transactional.id": transactional_id, "transaction.timeout.ms": TIMEOUT_MS}
        self._producer = confluent_kafka.Producer({**settings, "log_level": 0})

    def call(self, name: str, argument: Any = None) -> object:
        from confluent_kafka import KafkaException

        calls: dict[str, Callable[[], object]] = {
            "init": lambda: self._producer.init_transactions(20),
            "begin": self._producer.begin_transaction,
            "offsets": lambda: self._offsets(*argument),
            "produce": lambda: self._produce(argument),
            "commit": lambda: self._producer.commit_transaction(20),
            "abort": lambda: self._producer.abort_transaction(20),
        }
        try:
            return calls[name]()
        except KafkaException as refused:
            raise Refused(str(refused)) from None

    def close(self) -> None:
        """It ends with its last reference."""

    def _offsets(self, group: str, topic: str, offsets: Mapping[str, int]) -> None:
        from confluent_kafka import TopicPartition
        from confluent_kafka.cimpl import Consumer

        consumer = Consumer({"bootstrap.servers": "127.0.0.1:1", "group.id": group, "log_level": 0})
        positions = [TopicPartition(topic, int(partition), offset) for partition, offset in offsets.items()]
        self._producer.send_offsets_to_transaction(positions, consumer.consumer_group_metadata(), 20)
        consumer.close()

    def _produce(self, topic: str) -> None:
        errors: list[Any] = []
        self._producer.produce(topic, b"value", on_delivery=lambda error, _message: errors.append(error))
        self._producer.flush(20)
        if errors[0] is not None:
            raise Refused(str(errors[0]))


LIBRARIES: dict[str, Callable[[str, str], Transactional]] = {
    "java": java_producer,
    "confluent-kafka": ConfluentProducer,
    "franz-go": franz_producer,
    "franz-go-1": lambda bootstrap, transactional_id: franz_producer(bootstrap, transactional_id, version=1),
}


def main() -> None:
    """The other side of ``confluent_process``: the lines of Transactional.java."""
    producer = ConfluentProducer(*sys.argv[1:])
    for line in sys.stdin:
        command = json.loads(line)
        try:
            producer.call(command["call"], command["argument"])
            answer: dict[str, object] = {"result": True}
        except Refused as refused:
            answer = {"error": str(refused)}
        print(json.dumps(answer), flush=True)  # noqa: T201 - the other process reads it


if __name__ == "__main__":
    main()
