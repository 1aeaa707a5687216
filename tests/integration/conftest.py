"""The daemon over TCP, spoken to by a plain client; with --bootstrap HOST:PORT whatever listens there, a Kafka broker say."""

from __future__ import annotations

import secrets
from collections.abc import Iterator

import pytest

from tests.support.client import Client
from tests.support.server import Server


@pytest.fixture(scope="session")
def address(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, int]]:
    """A server for tests that need no more of it than topics and groups of their own names."""
    if given := request.config.getoption("--bootstrap"):
        host, _, port = given.partition(":")
        yield host, int(port)
        return
    with Server(tmp_path_factory.mktemp("integration")) as server:
        yield server.address


@pytest.fixture
def client(address: tuple[str, int]) -> Iterator[Client]:
    with Client(address) as client:
        yield client


@pytest.fixture
def fresh_name() -> str:
    """For a topic and a group that nobody had before."""
    return f"fresh-{secrets.token_hex(4)}"
