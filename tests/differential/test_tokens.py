"""Logins with OAUTHBEARER at a Kafka broker and at this server, with the same keys and tokens: the same answers, and the same ends.

What the broker said is in tests/data/differential/tokens.json; ``--live`` asks one, and ``--record`` writes it anew.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from tests.differential.token_cases import LISTENERS, MECHANISM, Login, document, every_login, told
from tests.support.kafka_broker import KafkaBroker
from tests.support.ports import free_port
from tests.support.server import Server

RECORDED: Final = Path(__file__).parents[1] / "data" / "differential" / "tokens.json"
DIFFERENCES: Final = Path(__file__).parents[2] / "docs" / "differences.md"
CLASSES: Final = "org.apache.kafka.common.security.oauthbearer"
PREFIX: Final = "sasl.oauthbearer"
Answers = Mapping[str, list[Any]]
# By the number of the difference in docs/differences.md.
UNLIKE: Final[Mapping[str, int]] = {
    "another word after the refusal": 114,
    "a second token after the refusal": 114,
    "a request after the refusal": 95,
    "another scheme": 114,
    "a key of another algorithm": 113,
    "HS256 with a secret of the set": 113,
    "a nested token": 113,
    "claims nested deeply": 113,
    "a token of 40 KiB": 113,
}


def properties(keys: Path) -> dict[str, object]:
    """Those that both servers have."""
    found: dict[str, object] = {
        "sasl.enabled.mechanisms": MECHANISM,
        "connection.failed.authentication.delay.ms": 0,
        "listener.security.protocol.map": ",".join(
            ["CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT", *(f"{name}:SASL_PLAINTEXT" for name in LISTENERS)]
        ),
    }
    for listener, settings in LISTENERS.items():
        prefix = f"listener.name.{listener.lower()}.{MECHANISM.lower()}"
        found[f"{prefix}.sasl.server.callback.handler.class"] = f"{CLASSES}.OAuthBearerValidatorCallbackHandler"
        found[f"{prefix}.{PREFIX}.jwks.endpoint.url"] = f"file://{keys}"
        found |= {f"{prefix}.{PREFIX}.{name}": value for name, value in settings.items()}
    return found


def jaas() -> dict[str, str]:
    """What a broker needs, and we do not."""
    module = f"{CLASSES}.OAuthBearerLoginModule required;"
    return {f"listener.name.{each.lower()}.{MECHANISM.lower()}.sasl.jaas.config": module for each in LISTENERS}


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("keys") / "keys.json"
    path.write_text(json.dumps(document()))
    return path


def answers(ports: Mapping[str, int], logins: Mapping[str, Login]) -> Answers:
    return {name: told(("127.0.0.1", ports[login.listener]), login) for name, login in logins.items()}


@pytest.fixture(scope="module")
def ours(keys: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Answers]:
    listeners = {"listeners": ",".join(["PLAINTEXT://127.0.0.1:0", *(f"{name}://127.0.0.1:0" for name in LISTENERS)])}
    with Server(tmp_path_factory.mktemp("ours"), properties(keys) | listeners) as server:
        yield answers({name: server.listeners[name][0] for name in LISTENERS}, every_login())


@pytest.fixture(scope="module")
def kafkas(request: pytest.FixtureRequest, keys: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Answers]:
    is_recording = request.config.getoption("--record")
    if not is_recording and not request.config.getoption("--live"):
        yield json.loads(RECORDED.read_text())
        return
    ports = {name: free_port() for name in LISTENERS}
    with KafkaBroker(tmp_path_factory.mktemp("kafka")) as broker:
        broker.more_listeners = tuple(f"{name}://127.0.0.1:{port}" for name, port in ports.items())
        broker.more_options = (f"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls=file://{keys}",)
        broker.start(properties(keys) | jaas())
        found = answers(ports, every_login())
    if is_recording:
        RECORDED.write_text("".join(("{\n", ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in found.items()), "\n}\n")))
    yield found


# By the names that are recorded: to sign all tokens takes half a second, which every process of a test run would take.
@pytest.mark.parametrize("name", json.loads(RECORDED.read_text()))
def test_a_token_is_answered_alike(ours: Answers, kafkas: Answers, name: str) -> None:
    """But for the differences that are listed."""
    assert (ours[name] == kafkas[name]) == (name not in UNLIKE), f"ours  {ours[name]}\nKafka {kafkas[name]}"


def test_the_differences_are_listed() -> None:
    numbers = re.findall(r"^\| (\d+) \|", DIFFERENCES.read_text(), re.MULTILINE)

    assert {str(number) for number in UNLIKE.values()} <= set(numbers)


def test_every_answer_of_the_broker_is_asked_for(kafkas: Answers) -> None:
    assert kafkas.keys() == every_login().keys()
