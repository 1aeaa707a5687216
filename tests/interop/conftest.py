"""Real clients against the real daemon; with --bootstrap HOST:PORT against whatever listens there, a Kafka broker say."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator

import pytest

from tests.interop.clients import CONSUMERS, ConfluentAdmin
from tests.interop.crew import Crew
from tests.support.server import Server

PARTITIONS = 6


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent.name == "interop":
            item.add_marker(pytest.mark.interop)


@pytest.fixture(scope="session")
def shared_bootstrap(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server for tests that leave it as they found it, but for topics and groups of their own names."""
    if given := request.config.getoption("--bootstrap"):
        yield given
        return
    with Server(tmp_path_factory.mktemp("interop")) as server:
        yield server.bootstrap


@pytest.fixture(params=list(CONSUMERS))
def library(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def fresh_name(request: pytest.FixtureRequest) -> str:
    """For a topic and a group that nobody had before."""
    return f"{request.node.originalname.removeprefix('test_')}-{secrets.token_hex(3)}"


@pytest.fixture
def crew_on(library: str, fresh_name: str) -> Iterator[Callable[[str], Crew]]:
    """Makes the group of one test, on a topic of its own with six partitions; its members are gone after the test."""
    crews: list[Crew] = []

    def make(bootstrap: str) -> Crew:
        ConfluentAdmin(bootstrap).create_topic(fresh_name, PARTITIONS)
        crews.append(Crew(library, bootstrap, fresh_name, fresh_name, PARTITIONS))
        return crews[-1]

    yield make
    for crew in crews:
        crew.__exit__()


@pytest.fixture
def crew(crew_on: Callable[[str], Crew], shared_bootstrap: str) -> Crew:
    return crew_on(shared_bootstrap)
