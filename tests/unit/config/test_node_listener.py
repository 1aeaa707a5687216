"""The listener for other nodes: one of the listeners, which clients do not get."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator_server.config import Config, ConfigError
from coordinator_server.config.listeners import listener_specs, node_listener
from tests.support.configs import config_with

BOTH = "PLAINTEXT://10.0.0.1:9092,NODES://10.0.0.1:9192"
MAP = "PLAINTEXT:PLAINTEXT,NODES:SSL"


def config(**changes: str) -> Config:
    properties: dict[str, Any] = {"listeners": BOTH, "listener_security_protocol_map": MAP, "inter_node_listener_name": "nodes"}
    return config_with(**(properties | changes))


def test_it_is_none_of_the_listeners_for_clients() -> None:
    assert [each.name for each in listener_specs(config())] == ["PLAINTEXT"]
    assert str(node_listener(config())) == "NODES://10.0.0.1:9192"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"inter_node_listener_name": ""}, "a store requires one of the listeners"),
        ({"listener_security_protocol_map": "PLAINTEXT:PLAINTEXT,NODES:PLAINTEXT"}, "needs NODES:SSL"),
        ({"listeners": "PLAINTEXT://10.0.0.1:9092,NODES://:9192"}, "at which host other nodes reach"),
    ],
)
def test_what_it_lacks_is_said(changes: dict[str, str], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        node_listener(config(**changes))


def test_a_listener_is_left_for_clients() -> None:
    with pytest.raises(ConfigError, match="no listener is left for clients"):
        listener_specs(config(listeners="NODES://10.0.0.1:9192"))
