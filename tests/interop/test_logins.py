"""Real clients that log in: Kafka's tools (run where `--clients` names java), librdkafka,
kafka-python and aiokafka, with each mechanism.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer
from aiokafka import TopicPartition as AiokafkaPartition
from confluent_kafka import Consumer, KafkaException, TopicPartition
from kafka import KafkaConsumer
from kafka import TopicPartition as KafkaPythonPartition
from kafka.structs import OffsetAndMetadata

from tests.interop.crew import ClientProcess
from tests.interop.programs import java_command
from tests.support.certificates import Authority
from tests.support.server import Server

CONFIGS = "kafka.admin.ConfigCommand"
GROUPS = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
MODULES = "org.apache.kafka.common.security"
PASSWORD = "a password, with = signs"
AUTHORITY = Authority()

Tool = Callable[..., str]


class Guarded(Server):
    """Listeners with and without SASL. Java clients log in again every second."""

    def __init__(self, directory: Path) -> None:
        self.authority = AUTHORITY.write(directory / "authority.pem")
        overrides = {
            "listeners": "PLAINTEXT://127.0.0.1:0,SASL_PLAINTEXT://127.0.0.1:0,SASL_SSL://127.0.0.1:0",
            "ssl.keystore.location": AUTHORITY.issue("localhost").write(directory / "server.pem"),
            "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
            "listener.name.sasl_plaintext.plain.sasl.jaas.config": "${env:JAAS}",
            "listener.name.sasl_ssl.plain.sasl.jaas.config": "${env:JAAS}",
            "listener.name.sasl_ssl.connections.max.reauth.ms": 1000,
            "topics": "orders:1",
        }
        super().__init__(directory, overrides)
        self.environment = {"JAAS": f'{MODULES}.plain.PlainLoginModule required user_alice="{PASSWORD}";'}

    def at(self, listener: str) -> str:
        return f"127.0.0.1:{self.listeners[listener][0]}"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    with Guarded(tmp_path_factory.mktemp("logins")) as started:
        yield started


@pytest.fixture(scope="module")
def tool(server: Guarded) -> Iterator[Tool]:
    """Runs a tool of Kafka; what it printed. It has to end well."""
    process = ClientProcess(java_command("Tools"))

    def run(name: str, *words: str, listener: str = "PLAINTEXT") -> str:
        ended, printed = process.call(name, ["--bootstrap-server", server.at(listener), *words], within_s=120)
        assert ended == 0, printed
        text: str = printed
        return text

    yield run
    process.clean_up()


@pytest.fixture(scope="module")
def alice(tool: Tool) -> str:
    """Has a password for both kinds of SCRAM, which Kafka's tool has set."""
    for mechanism in ("SCRAM-SHA-256", "SCRAM-SHA-512"):
        setting = f"{mechanism}=[iterations=8192,password={PASSWORD.replace(',', '')}]"
        printed = tool(CONFIGS, "--alter", "--add-config", setting, "--entity-type", "users", "--entity-name", "alice")
        assert "Completed updating" in printed
    return "alice"


def password_of(mechanism: str) -> str:
    """The tool divides its settings at commas."""
    return PASSWORD if mechanism == "PLAIN" else PASSWORD.replace(",", "")


EVERY_MECHANISM = pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])


@EVERY_MECHANISM
def test_kafkas_tools_log_in(server: Guarded, tool: Tool, alice: str, mechanism: str, tmp_path: Path) -> None:
    """Over TLS, with the certificates as PEM; a wrong password is told."""
    module = "plain.PlainLoginModule" if mechanism == "PLAIN" else "scram.ScramLoginModule"
    properties = tmp_path / "client.properties"

    def write(password: str) -> None:
        properties.write_text(
            "security.protocol=SASL_SSL\nssl.truststore.type=PEM\nssl.endpoint.identification.algorithm=\n"
            f"ssl.truststore.location={server.authority}\nsasl.mechanism={mechanism}\n"
            f'sasl.jaas.config={MODULES}.{module} required username="{alice}" password="{password}";\n'
        )

    words = ["--command-config", str(properties), "--group", f"java-{mechanism}", "--topic", "orders", "--to-offset", "0"]
    write(password_of(mechanism))
    assert "orders" in tool(GROUPS, "--reset-offsets", "--execute", *words, listener="SASL_SSL")
    write("wrong")
    refused = tool(GROUPS, "--list", *words[:2], listener="SASL_SSL")
    assert "SaslAuthenticationException: Authentication failed" in refused


@EVERY_MECHANISM
@pytest.mark.parametrize("listener", ["SASL_PLAINTEXT", "SASL_SSL"])
def test_librdkafka_logs_in(server: Guarded, alice: str, mechanism: str, listener: str) -> None:
    def consumer(password: str) -> Consumer:
        settings = {
            "bootstrap.servers": server.at(listener),
            "group.id": f"rdkafka-{mechanism}-{listener}",
            "security.protocol": listener,
            "ssl.ca.location": str(server.authority),
            "ssl.endpoint.identification.algorithm": "none",
            "sasl.mechanism": mechanism,
            "sasl.username": alice,
            "sasl.password": password,
            "log_level": 0,
        }
        return Consumer(settings)

    member = consumer(password_of(mechanism))
    member.commit(offsets=[TopicPartition("orders", 0, 7)], asynchronous=False)
    [committed] = member.committed([TopicPartition("orders", 0)], timeout=30)
    assert committed.offset == 7
    member.close()
    stranger = consumer("wrong")
    with pytest.raises(KafkaException):
        stranger.list_topics(timeout=1)
    stranger.close()


@EVERY_MECHANISM
def test_kafka_python_logs_in(server: Guarded, alice: str, mechanism: str) -> None:
    settings = {"sasl_mechanism": mechanism, "sasl_plain_username": alice, "sasl_plain_password": password_of(mechanism)}
    where = {"bootstrap_servers": server.at("SASL_PLAINTEXT"), "security_protocol": "SASL_PLAINTEXT"}
    member = KafkaConsumer(**where, **settings, group_id=f"python-{mechanism}", enable_auto_commit=False)
    partition = KafkaPythonPartition("orders", 0)
    member.assign([partition])
    member.commit({partition: OffsetAndMetadata(7, "", -1)})

    assert member.committed(partition) == 7
    member.close()


@EVERY_MECHANISM
async def test_aiokafka_logs_in(server: Guarded, alice: str, mechanism: str) -> None:
    tls = ssl.create_default_context(cafile=str(server.authority))
    tls.check_hostname = False
    settings: dict[str, Any] = {
        "sasl_mechanism": mechanism,
        "sasl_plain_username": alice,
        "sasl_plain_password": password_of(mechanism),
    }
    member = AIOKafkaConsumer(
        bootstrap_servers=server.at("SASL_SSL"),
        security_protocol="SASL_SSL",
        ssl_context=tls,
        group_id=f"aiokafka-{mechanism}",
        enable_auto_commit=False,
        **settings,
    )
    await member.start()
    partition = AiokafkaPartition("orders", 0)
    member.assign([partition])
    await member.commit({partition: 7})

    assert await member.committed(partition) == 7
    await member.stop()


def test_kafkas_tool_removes_a_user(server: Guarded, tool: Tool) -> None:
    words = ["--entity-type", "users", "--entity-name", "bob"]
    tool(CONFIGS, "--alter", "--add-config", "SCRAM-SHA-512=[password=his]", *words)
    assert "bob" in str(server.control(op="users", shards=["__cluster_metadata-0"]))

    tool(CONFIGS, "--alter", "--delete-config", "SCRAM-SHA-512", *words)
    assert "bob" not in str(server.control(op="users", shards=["__cluster_metadata-0"]))
