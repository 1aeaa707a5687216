"""``coordinator-server observe`` on a broker with TLS, SASL and ACLs: what it is allowed is enough, and allows nothing else.

With ``--live`` (Java and Maven).
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined] # its types do not say what it exports

from protocol.error_codes import ErrorCode
from tests.interop.crew import ClientProcess
from tests.interop.programs import java_command
from tests.interop.test_client_security import PASSWORD, keystore, set_passwords
from tests.interop.transactional import ConfluentProducer
from tests.support.command_forks import run_command
from tests.support.eventually import eventually
from tests.support.kafka_broker import KafkaBroker
from tests.support.ports import free_port
from tests.support.simple_requests import commit_alone, committed, coordinator

pytestmark = pytest.mark.live
__all__ = ["keystore"]

ACLS: Final = "org.apache.kafka.tools.AclCommand"
MODULE: Final = "org.apache.kafka.common.security.scram.ScramLoginModule"
TOPICS: Final = ("__consumer_offsets", "__transaction_state", "__share_group_state")
Tool = Callable[[str], None]


class Secured(NamedTuple):
    """A broker, its address for those who log in, and a certificate to trust."""

    broker: KafkaBroker
    address: str
    trusted: Path

    def client(self) -> dict[str, Any]:
        """The settings of librdkafka for alice."""
        return {
            "bootstrap.servers": self.address,
            "security.protocol": "SASL_SSL",
            "ssl.ca.location": str(self.trusted),
            "ssl.endpoint.identification.algorithm": "none",
            "sasl.mechanism": "SCRAM-SHA-512",
            "sasl.username": "alice",
            "sasl.password": PASSWORD,
        }


@pytest.fixture(scope="module")
def secured(keystore: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    """Whoever does not log in may do everything; alice may do nothing."""
    port = free_port()
    with KafkaBroker(tmp_path_factory.mktemp("kafka")) as broker:
        broker.more_listeners = (f"SASL_SSL://127.0.0.1:{port}",)
        broker.start(
            {
                "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SASL_SSL:SASL_SSL",
                "sasl.enabled.mechanisms": "SCRAM-SHA-512",
                "listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config": f"{MODULE} required;",
                "ssl.keystore.type": "PKCS12",
                "ssl.keystore.location": keystore,
                "ssl.keystore.password": "storepass",
                "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
                "super.users": "User:ANONYMOUS",
            }
        )
        set_passwords(broker)
        admin = AdminClient({"bootstrap.servers": broker.bootstrap})
        admin.create_topics([NewTopic("orders", num_partitions=1, replication_factor=1)])["orders"].result(60)
        # The topics of groups and of transactions are made when they are first needed.
        producer = ConfluentProducer(broker.bootstrap, "mover")
        producer.call("init")
        with broker.client() as client:
            coordinator(client, "billing")
            eventually(lambda: set(commit_alone(client, "billing", "orders", {0: 5}).values()) == {ErrorCode.NONE}, 60)
        yield Secured(broker, f"127.0.0.1:{port}", keystore.parent / "cert.pem")


@pytest.fixture
def acls(secured: Secured) -> Iterator[Tool]:
    """Runs a line of ``kafka-acls.sh`` that adds, for whoever does not log in. In the end all that was added is removed."""
    process = ClientProcess(java_command("Tools"))
    added: list[list[str]] = []

    def run(words: list[str]) -> None:
        code, said = process.call(ACLS, words, within_s=120)
        assert code == 0, said

    def add(line: str) -> None:
        name, *words = shlex.split(line)
        assert name == "kafka-acls.sh"
        words[words.index("--bootstrap-server") + 1] = secured.broker.bootstrap
        run(words)
        added.append(words)

    yield add
    for words in added:
        run(["--remove" if word == "--add" else word for word in words] + ["--force"])
    process.clean_up()


@pytest.fixture
def properties(secured: Secured, tmp_path: Path) -> Path:
    """What an operator has for Kafka's own tools."""
    path = tmp_path / "client.properties"
    login = f'{MODULE} required username="alice" password="{PASSWORD}";'
    lines = ["security.protocol=SASL_SSL", "sasl.mechanism=SCRAM-SHA-512", f"sasl.jaas.config={login}"]
    path.write_text("\n".join((*lines, "ssl.truststore.type=PEM", f"ssl.truststore.location={secured.trusted}")) + "\n")
    return path


def observe(secured: Secured, properties: Path, observed: Path, code: int) -> str:
    words = ("observe", "--bootstrap", secured.address, "--command-config", properties, "--data-dir", observed, "--once")
    done = run_command(*words)
    assert done.returncode == code, done.stderr
    return done.stdout + done.stderr


def printed(said: str) -> list[str]:
    """The commands that it prints."""
    return [line.split("kafka-acls.sh", 1)[1] for line in said.splitlines() if "kafka-acls.sh --bootstrap-server" in line]


def test_what_it_prints_is_what_it_needs(secured: Secured, properties: Path, acls: Tool, tmp_path: Path) -> None:
    """It says what lacks, and its lines, word for word, are enough. With them its user can read, and change nothing."""
    observed = tmp_path / "observed"
    lines = printed(observe(secured, properties, observed, 1))
    assert len(lines) == 2
    for line in lines:
        acls("kafka-acls.sh" + line)

    assert "observing the cluster" in observe(secured, properties, observed, 0)

    offsets = run_command("groups", "offsets", "billing", "--data-dir", observed, "-o", "csv")
    assert "billing,orders,0,5" in offsets.stdout, offsets.stderr
    consumer = Consumer({**secured.client(), "group.id": "billing"})
    with pytest.raises(KafkaException):
        consumer.commit(offsets=[TopicPartition("orders", 0, 9)], asynchronous=False)
    consumer.close()
    with secured.broker.client() as client:
        assert committed(client, "billing") == {("orders", 0): 5}
    refused = []
    producer = Producer({**secured.client(), "message.timeout.ms": 20_000})
    producer.produce("orders", b"x", on_delivery=lambda error, _: refused.append(str(error and error.name())))
    producer.flush(30)
    assert refused == ["TOPIC_AUTHORIZATION_FAILED"]
    admin = AdminClient(secured.client())
    for ended in (
        admin.create_topics([NewTopic("mine", 1, 1)])["mine"],
        admin.delete_topics(["orders"])["orders"],
        admin.delete_consumer_groups(["billing"])["billing"],
    ):
        with pytest.raises(KafkaException, match="AUTHORIZATION_FAILED"):
            ended.result(60)


@pytest.mark.parametrize("lacking", TOPICS[:2])
def test_it_says_which_topic_it_may_not_read(
    secured: Secured, properties: Path, acls: Tool, tmp_path: Path, lacking: str
) -> None:
    head = "kafka-acls.sh --bootstrap-server B --add --allow-principal User:alice"
    acls(f"{head} --operation Describe --topic *")
    for topic in TOPICS:
        if topic != lacking:
            acls(f"{head} --operation Read --topic {topic}")

    said = observe(secured, properties, tmp_path / "observed", 1)

    assert f"does not let this user read {lacking}" in said
    assert len(printed(said)) == 2
