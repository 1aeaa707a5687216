"""Logins at a Kafka broker and at this server, request by request: the same answers, and the same ends.

With ``--live`` (Java and Maven).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import msgspec
import pytest

from coordinator_server.client.sasl import exchange
from coordinator_server.client.settings import Sasl
from protocol.fields import Message
from protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from protocol.messages.api_versions import ApiVersionsRequest
from protocol.messages.describe_cluster import DescribeClusterRequest
from protocol.messages.describe_user_scram_credentials import DescribeUserScramCredentialsRequest, UserName
from protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from protocol.messages.sasl_handshake import SaslHandshakeRequest
from tests.support.client import Client, Closed
from tests.support.kafka_broker import KafkaBroker
from tests.support.ports import free_port
from tests.support.server import Server

pytestmark = pytest.mark.live
SESSION_MS = 600_000
MODULES = "org.apache.kafka.common.security"
JAAS = f'{MODULES}.plain.PlainLoginModule required user_bob="secret" user_carol="hers";'
SHARED = {
    "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
    "listener.name.sasl_plaintext.scram-sha-256.sasl.jaas.config": f"{MODULES}.scram.ScramLoginModule required;",
    "listener.name.sasl_plaintext.scram-sha-512.sasl.jaas.config": f"{MODULES}.scram.ScramLoginModule required;",
    "listener.name.sasl_plaintext.scram-sha-512.connections.max.reauth.ms": SESSION_MS,
}
SALT: Final = b"the salt of a test"


class Side:
    """One of the two servers: an address without SASL, and one with it."""

    def __init__(self, plaintext: tuple[str, int], sasl: tuple[str, int]) -> None:
        self.plaintext, self.sasl = plaintext, sasl


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Side, Side]]:
    port = free_port()
    listeners = {"listeners": "PLAINTEXT://127.0.0.1:0,SASL_PLAINTEXT://127.0.0.1:0"}
    ours = Server(tmp_path_factory.mktemp("ours"), SHARED | listeners)
    ours.overrides["listener.name.sasl_plaintext.plain.sasl.jaas.config"] = "${env:JAAS}"
    for mechanism in ("256", "512"):
        ours.overrides[f"listener.name.sasl_plaintext.scram-sha-{mechanism}.sasl.jaas.config"] = "${env:SCRAM}"
    ours.environment = {"JAAS": JAAS, "SCRAM": f"{MODULES}.scram.ScramLoginModule required;"}
    with ours, KafkaBroker(tmp_path_factory.mktemp("kafka")) as broker:
        broker.more_listeners = (f"SASL_PLAINTEXT://127.0.0.1:{port}",)
        protocols = "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT"
        jaas = {"listener.name.sasl_plaintext.plain.sasl.jaas.config": JAAS}
        broker.start(SHARED | jaas | {"listener.security.protocol.map": protocols})
        with broker.client() as client:
            plaintext = client._socket.getpeername()[:2]
        both = (
            Side(("127.0.0.1", ours.listeners["PLAINTEXT"][0]), ("127.0.0.1", ours.listeners["SASL_PLAINTEXT"][0])),
            Side(plaintext, ("127.0.0.1", port)),
        )
        for side in both:
            put = [upsertion("alice", number) for number in (1, 2)]
            for each in put:
                told(side, [ask(AlterUserScramCredentialsRequest([], [each]))], is_sasl=False)
        yield both


def upsertion(user: str, mechanism: int, iterations: int = 4096, salt: bytes = SALT) -> ScramCredentialUpsertion:
    digest = "sha256" if mechanism == 1 else "sha512"
    return ScramCredentialUpsertion(user, mechanism, iterations, salt, hashlib.pbkdf2_hmac(digest, b"password", salt, 4096))


Step = Callable[[Client], list[Any]]


def ask(request: Message, version: int = 0) -> Step:
    def step(client: Client) -> list[Any]:
        answer: dict[str, Any] = msgspec.structs.asdict(client.call(request, version))
        if isinstance(request, ApiVersionsRequest):
            return ["versions", answer["error_code"]]
        return [type(request).__name__, *(shape(value) for value in answer.values())]

    return step


def shape(value: Any) -> Any:
    """A value without what is drawn: nonces, signatures, ids."""
    if isinstance(value, bytes):
        return re.sub(rb"(r=|v=)[^,]+", rb"\1drawn", value)
    if isinstance(value, list):
        return sorted((shape(each) for each in value), key=str)
    if isinstance(value, msgspec.Struct):
        return {name: shape(each) for name, each in msgspec.structs.asdict(value).items()}
    return value


def shake(mechanism: str, version: int = 1) -> Step:
    return ask(SaslHandshakeRequest(mechanism), version)


def say(token: bytes, version: int = 2) -> Step:
    return ask(SaslAuthenticateRequest(token), version)


def bare(token: bytes) -> Step:
    def step(client: Client) -> list[Any]:
        client.send_bytes(len(token).to_bytes(4, "big") + token)
        return ["bare", shape(client.receive_frame())]

    return step


def scram(user: str, password: str, mechanism: str = "SCRAM-SHA-512") -> Step:
    """The conversation of our client, which stops at an error."""

    def step(client: Client) -> list[Any]:
        found = shake(mechanism)(client)
        conversation = exchange(Sasl(user, password, mechanism))
        token = next(conversation)
        while True:
            answer: Any = client.call(SaslAuthenticateRequest(token), 2)
            found += [answer.error_code, answer.error_message, shape(answer.auth_bytes), answer.session_lifetime_ms]
            if answer.error_code:
                return found
            try:
                token = conversation.send(answer.auth_bytes)
            except StopIteration:
                return found

    return step


def served(client: Client) -> list[Any]:
    """Whether an ordinary request is answered."""
    answer: Any = client.call(DescribeClusterRequest(), 1)
    return ["served", answer.error_code]


VERSIONS: Final = ask(ApiVersionsRequest("tests", "1"), 3)
PLAIN: Final = say(b"\0bob\0secret")
LOGINS: Final[Mapping[str, list[Step]]] = {
    "plain": [VERSIONS, shake("PLAIN"), PLAIN, served],
    "plain without versions, at version 0": [shake("PLAIN"), say(b"bob\0bob\0secret", 0), served],
    "plain, version 1": [VERSIONS, shake("PLAIN"), say(b"\0carol\0hers", 1), served],
    "plain with bare tokens": [shake("PLAIN", 0), bare(b"\0bob\0secret"), served],
    "a bare guess": [shake("PLAIN", 0), bare(b"\0bob\0guess"), served],
    "a wrong password": [VERSIONS, shake("PLAIN"), say(b"\0bob\0guess"), served],
    "an unknown user of plain": [VERSIONS, shake("PLAIN"), say(b"\0nobody\0guess"), served],
    "no token of plain": [shake("PLAIN"), say(b"bob"), served],
    "no user": [shake("PLAIN"), say(b"\0\0secret"), served],
    "no password": [shake("PLAIN"), say(b"\0bob\0"), served],
    "another authorization id": [shake("PLAIN"), say(b"carol\0bob\0secret"), served],
    "an unknown mechanism": [VERSIONS, shake("GSSAPI"), served],
    "a mechanism in small letters": [shake("plain"), served],
    "scram": [VERSIONS, scram("alice", "password", "SCRAM-SHA-256"), served],
    "scram with a session": [VERSIONS, scram("alice", "password"), served],
    "a wrong password of scram": [scram("alice", "guess"), served],
    "scram says nonsense": [shake("SCRAM-SHA-256"), say(b"nonsense"), served],
    "scram without a nonce": [shake("SCRAM-SHA-256"), say(b"n,,n=alice"), served],
    "nothing but a request": [served],
    "a request after versions": [VERSIONS, served],
    "versions twice": [VERSIONS, VERSIONS],
    "tokens before a handshake": [VERSIONS, PLAIN],
    "versions after a handshake": [shake("PLAIN"), ask(ApiVersionsRequest("tests", "1"), 0), served],
    "a second handshake": [shake("PLAIN"), shake("PLAIN"), served],
    "a handshake when known": [shake("PLAIN"), PLAIN, shake("PLAIN"), served],
    "tokens when known": [shake("PLAIN"), PLAIN, PLAIN, served],
    "again": [scram("alice", "password"), scram("alice", "password"), served],
    "again at once": [scram("alice", "password"), scram("alice", "password"), shake("SCRAM-SHA-512"), served],
    "again with another mechanism": [scram("alice", "password"), shake("PLAIN"), PLAIN, served],
    "again with a wrong password": [scram("alice", "password"), scram("alice", "guess"), served],
    "another request while it happens again": [scram("alice", "password"), shake("SCRAM-SHA-512"), served],
}
WITHOUT_SASL: Final[Mapping[str, list[Step]]] = {
    "a handshake": [shake("PLAIN"), served],
    "tokens": [PLAIN, served],
    "a description": [ask(DescribeUserScramCredentialsRequest(None))],
    "a description of some": [
        ask(DescribeUserScramCredentialsRequest([UserName(name) for name in ("alice", "zoe", "yves", "yves")]))
    ],
    "wrong changes": [
        ask(
            AlterUserScramCredentialsRequest(
                [ScramCredentialDeletion("zoe", 1), ScramCredentialDeletion("", 1), ScramCredentialDeletion("yves", 7)],
                [upsertion("a", 1, 4095), upsertion("b", 2, 16385), upsertion("c", 0), upsertion("d", 1), upsertion("d", 2)],
            )
        )
    ],
    "a change and its end": [
        ask(AlterUserScramCredentialsRequest([], [upsertion("eve", 2, 8192)])),
        ask(DescribeUserScramCredentialsRequest([UserName("eve")])),
        ask(AlterUserScramCredentialsRequest([ScramCredentialDeletion("eve", 2)], [])),
        ask(DescribeUserScramCredentialsRequest([UserName("eve")])),
    ],
}
# As docs/differences.md says.
UNLIKE: Final = {"versions after a handshake", "another request while it happens again"}


def told(side: Side, steps: list[Step], *, is_sasl: bool = True) -> list[Any]:
    """What a server says, up to the end of the connection."""
    found: list[Any] = []
    with Client(side.sasl if is_sasl else side.plaintext) as client:
        for step in steps:
            try:
                found.append(step(client))
            except (Closed, ConnectionError):
                return [*found, "closed"]
    return found


@pytest.mark.parametrize("name", LOGINS)
def test_a_login_is_answered_alike(sides: tuple[Side, Side], name: str) -> None:
    ours, kafkas = (told(side, LOGINS[name]) for side in sides)

    assert (ours == kafkas) == (name not in UNLIKE), f"{ours}\n{kafkas}"


@pytest.mark.parametrize("name", WITHOUT_SASL)
def test_what_needs_no_login_is_answered_alike(sides: tuple[Side, Side], name: str) -> None:
    ours, kafkas = (told(side, WITHOUT_SASL[name], is_sasl=False) for side in sides)

    assert ours == kafkas


def test_an_unknown_user_of_scram_is_told_later(sides: tuple[Side, Side]) -> None:
    """At a broker with the first answer."""
    ours, kafkas = (told(side, [scram("nobody", "password")]) for side in sides)

    assert (len(ours[0]), len(kafkas[0])) == (11, 7)
    assert ours[0][-4:] == kafkas[0][-4:]
