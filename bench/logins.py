"""Logins per second: a new connection for each, with a token (RS256, ES256) or a password of PLAIN.

    python -m bench.logins [--kafka] [--rounds 5] [--seconds 2]

Each of CLIENTS threads of the generator, which has a process of its own, connects, sends SaslHandshake and SaslAuthenticate, reads
both answers and closes. The servers run side by side and take turns; medians of the rounds are printed. ``connects`` is the same
without a login: what the generator and the network take.
"""

from __future__ import annotations

import argparse
import contextlib
import statistics
import tempfile
import threading
import time
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from socket import create_connection, socket
from typing import Final

from protocol.frames import encode_request
from protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from protocol.messages.sasl_handshake import SaslHandshakeRequest
from tests.support.kafka_broker import KafkaBroker
from tests.support.ports import free_port
from tests.support.server import Server
from tests.support.tokens import initial_response, key_set, token

CLIENTS: Final = 8
HANDSHAKE, AUTHENTICATE = 17, 36
CLASSES: Final = "org.apache.kafka.common.security"
PASSWORD: Final = "secret"
ALGORITHMS: Final = ("RS256", "ES256")
LISTENER: Final = "SASL_PLAINTEXT"
OAUTH: Final = f"listener.name.{LISTENER.lower()}.oauthbearer"
PLAIN_JAAS: Final = f'{CLASSES}.plain.PlainLoginModule required user_alice="{PASSWORD}";'


def main() -> None:
    options = _options()
    with contextlib.ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        keys = directory / "keys.json"
        keys.write_bytes(key_set(*ALGORITHMS))
        ports = {"this server": _ours(directory, keys, stack)}
        if options.kafka:
            ports["Kafka 4.3.1"] = _kafka(directory, keys, stack)
        generator = stack.enter_context(ProcessPoolExecutor(1))
        for load, data in _loads().items():
            rounds: dict[str, list[float]] = {name: [] for name in ports}
            for number in range(options.rounds + 1):
                for name, port in ports.items():
                    rate = generator.submit(
                        logins_per_second, port, data, options.seconds if number else options.warm_up
                    ).result()
                    if number:
                        rounds[name].append(rate)
            for name, rates in rounds.items():
                print(
                    f"{load:10} {name:12} {statistics.median(rates):8,.0f} /s   {min(rates):,.0f} to {max(rates):,.0f}",
                    flush=True,
                )


def logins_per_second(port: int, data: bytes, seconds: float) -> float:
    """Log in as often as CLIENTS threads can, and return the rate. Each answer has to be good."""
    done = [0] * CLIENTS
    began = time.monotonic()

    def run(number: int) -> None:
        while time.monotonic() - began < seconds:
            with create_connection(("127.0.0.1", port)) as connection:
                if data:
                    connection.sendall(data)
                    _read(connection)
                    answer = _read(connection)
                    assert not any(answer[4:6]), f"error code {int.from_bytes(answer[4:6])}"
                    assert b"invalid_token" not in answer
            done[number] += 1

    threads = [threading.Thread(target=run, args=(number,)) for number in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(done) / (time.monotonic() - began)


def _read(connection: socket) -> bytes:
    data = b""
    while len(data) < 4 or len(data) < 4 + int.from_bytes(data[:4]):
        # One answer after the other: no more of it than its frame has.
        wanted = 4 - len(data) if len(data) < 4 else 4 + int.from_bytes(data[:4]) - len(data)
        part = connection.recv(wanted)
        assert part, "closed"
        data += part
    return data[4:]


def _loads() -> Mapping[str, bytes]:
    now = int(time.time())
    claims = {"sub": "alice", "iat": now, "exp": now + 3600, "aud": "coordinator", "iss": "https://login.example/"}
    tokens = {name: ("OAUTHBEARER", initial_response(token(claims, name))) for name in ALGORITHMS}
    logins = {**tokens, "PLAIN": ("PLAIN", f"\0alice\0{PASSWORD}".encode())}
    return {"connects": b""} | {
        name: encode_request(HANDSHAKE, 1, 1, "bench", SaslHandshakeRequest(mechanism))
        + encode_request(AUTHENTICATE, 1, 2, "bench", SaslAuthenticateRequest(said))
        for name, (mechanism, said) in logins.items()
    }


def _properties(keys: Path) -> dict[str, object]:
    return {
        "sasl.enabled.mechanisms": "PLAIN,OAUTHBEARER",
        f"{OAUTH}.sasl.server.callback.handler.class": f"{CLASSES}.oauthbearer.OAuthBearerValidatorCallbackHandler",
        f"{OAUTH}.sasl.oauthbearer.jwks.endpoint.url": keys.as_uri(),
        f"{OAUTH}.sasl.oauthbearer.expected.audience": "coordinator",
        f"{OAUTH}.sasl.oauthbearer.expected.issuer": "https://login.example/",
    }


def _ours(directory: Path, keys: Path, stack: contextlib.ExitStack) -> int:
    place = directory / "ours"
    place.mkdir()
    listeners = {"listeners": f"PLAINTEXT://127.0.0.1:0,{LISTENER}://127.0.0.1:0"}
    server = Server(place, _properties(keys) | listeners)
    server.overrides[f"listener.name.{LISTENER.lower()}.plain.sasl.jaas.config"] = "${env:JAAS}"
    server.environment = {"JAAS": PLAIN_JAAS}
    return stack.enter_context(server).listeners[LISTENER][0]


def _kafka(directory: Path, keys: Path, stack: contextlib.ExitStack) -> int:
    port = free_port()
    broker = stack.enter_context(KafkaBroker(directory / "kafka"))
    broker.more_listeners = (f"{LISTENER}://127.0.0.1:{port}",)
    broker.more_options = (f"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls={keys.as_uri()}",)
    prefix = f"listener.name.{LISTENER.lower()}"
    own = {
        "listener.security.protocol.map": f"CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,{LISTENER}:{LISTENER}",
        f"{prefix}.plain.sasl.jaas.config": PLAIN_JAAS,
        f"{OAUTH}.sasl.jaas.config": f"{CLASSES}.oauthbearer.OAuthBearerLoginModule required;",
    }
    broker.start(_properties(keys) | own)
    return port


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench.logins", description="logins per second")
    parser.add_argument("--kafka", action="store_true", help="run a Kafka 4.3.1 broker beside it (java and mvn)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of each load, in turns (5)")
    parser.add_argument("--seconds", type=float, default=2, help="of each round (2)")
    parser.add_argument("--warm-up", type=float, default=4, help="seconds before the first round: compilers see the load (4)")
    return parser.parse_args()


if __name__ == "__main__":
    main()
