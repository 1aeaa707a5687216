"""TLS and SASL of the client library, with a Kafka broker that demands them: with ``--live`` (Java and Maven)."""

from __future__ import annotations

import hashlib
import secrets
import shutil
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from coordinator_server.client import AuthenticationFailed, ConnectionSettings, Sasl, TopicPartition
from protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    ScramCredentialUpsertion,
)
from tests.support.kafka_broker import KafkaBroker
from tests.support.kafka_jars import do_without
from tests.support.ports import free_port
from tests.support.recording_coordinator import RecordingCoordinator

pytestmark = pytest.mark.live
PASSWORD = "secret, with = signs"
MECHANISMS = {"SCRAM-SHA-256": 1, "SCRAM-SHA-512": 2}
ITERATIONS = 4096


@pytest.fixture(scope="module")
def keystore(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A key for the broker, and beside it its certificate as cert.pem."""
    if shutil.which("keytool") is None:
        do_without("no keytool on the PATH: it makes the broker's key")
    directory = tmp_path_factory.mktemp("keys")
    store = directory / "broker.p12"
    words = ["keytool", "-keystore", str(store), "-storepass", "storepass", "-alias", "broker"]
    made = ["-genkeypair", "-keyalg", "RSA", "-dname", "CN=localhost", "-ext", "SAN=IP:127.0.0.1", "-validity", "30"]
    subprocess.run([*words, *made], check=True, capture_output=True)
    subprocess.run([*words, "-exportcert", "-rfc", "-file", str(directory / "cert.pem")], check=True, capture_output=True)
    return store


@pytest.fixture(scope="module")
def address(keystore: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A listener that takes nothing but TLS and SASL."""
    port = free_port()
    modules = "org.apache.kafka.common.security"
    with KafkaBroker(tmp_path_factory.mktemp("kafka")) as broker:
        broker.more_listeners = (f"SASL_SSL://127.0.0.1:{port}",)
        broker.start(
            {
                "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SASL_SSL:SASL_SSL",
                "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
                "listener.name.sasl_ssl.plain.sasl.jaas.config": f"{modules}.plain.PlainLoginModule required "
                f'user_alice="{PASSWORD}";',
                "listener.name.sasl_ssl.scram-sha-256.sasl.jaas.config": f"{modules}.scram.ScramLoginModule required;",
                "listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config": f"{modules}.scram.ScramLoginModule required;",
                "ssl.keystore.type": "PKCS12",
                "ssl.keystore.location": keystore,
                "ssl.keystore.password": "storepass",
            }
        )
        set_passwords(broker)
        yield f"127.0.0.1:{port}"


def set_passwords(broker: KafkaBroker) -> None:
    """Give alice her password for both kinds of SCRAM."""
    for name, number in MECHANISMS.items():
        salt = secrets.token_bytes(16)
        salted = hashlib.pbkdf2_hmac(name.removeprefix("SCRAM-").replace("-", "").lower(), PASSWORD.encode(), salt, ITERATIONS)
        request = AlterUserScramCredentialsRequest([], [ScramCredentialUpsertion("alice", number, ITERATIONS, salt, salted)])
        with broker.client() as client:
            answer = client.ask(request, 0, AlterUserScramCredentialsResponse)
        assert [each.error_code for each in answer.results] == [0]


def settings(address: str, keystore: Path, sasl: Sasl) -> ConnectionSettings:
    return ConnectionSettings(address, ssl=ssl.create_default_context(cafile=str(keystore.parent / "cert.pem")), sasl=sasl)


@pytest.mark.parametrize("mechanism", ["PLAIN", *MECHANISMS])
async def test_members_are_let_in(address: str, keystore: Path, fresh_name: str, mechanism: str) -> None:
    async with RecordingCoordinator(settings(address, keystore, Sasl("alice", PASSWORD, mechanism)), fresh_name) as member:
        await member.ensure_active_group()
        await member.ensure_topic(fresh_name, 1)
        await member.commit({TopicPartition(fresh_name, 0): 7})

        assert (await member.committed())[TopicPartition(fresh_name, 0)].offset == 7


@pytest.mark.parametrize("mechanism", ["PLAIN", *MECHANISMS])
async def test_wrong_passwords_are_told(address: str, keystore: Path, fresh_name: str, mechanism: str) -> None:
    async with RecordingCoordinator(settings(address, keystore, Sasl("alice", "wrong", mechanism)), fresh_name) as member:
        with pytest.raises(AuthenticationFailed, match="alice"):
            await member.ensure_active_group()


async def test_strangers_are_not_trusted(address: str, fresh_name: str) -> None:
    """A certificate that nobody vouches for."""
    stranger = ConnectionSettings(address, ssl=ssl.create_default_context(), sasl=Sasl("alice", PASSWORD))
    async with RecordingCoordinator(stranger, fresh_name) as member:
        with pytest.raises(AuthenticationFailed, match="certificate"):
            await member.ensure_active_group()
