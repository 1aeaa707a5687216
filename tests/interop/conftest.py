"""Real clients against the real daemon; with --bootstrap HOST:PORT against whatever listens there, a Kafka broker say."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.interop.clients import CONSUMERS, ConfluentAdmin
from tests.interop.contract_table import CONTRACT, LACKS, LACKS_OF_CONSUMERS, contract_table, pauses
from tests.interop.crew import Crew
from tests.interop.programs import FOREIGN, TESTCONTAINERS_HOMES
from tests.support.node_cluster import NodeCluster
from tests.support.postgresql import PostgresqlServer
from tests.support.postgresql import postgresql as postgresql  # noqa: PLC0414 - a fixture
from tests.support.server import Server

PARTITIONS = 6
TOOLS = {"test_kafka_acls.py", "test_kafka_tools.py", "test_share_groups.py", "test_streams.py", "test_logins.py"}
# For clients that have the protocol of KIP-848. kafka-python 3.0 and aiokafka have none; nor have sarama and kafkajs.
WITH_BOTH_PROTOCOLS = {
    "test_migration.py": ("confluent-kafka", "java"),
    "test_consumer_contract.py": ("confluent-kafka", "java", "franz-go"),
}
MOVING = "test_moving_shards.py"
# What-if: for clients whose assignors are Kafka's by name.
WHAT_IF = {
    "test_what_if.py": ("confluent-kafka", "java", "franz-go", "kafka-python", "aiokafka"),
    "test_what_if_scripts.py": ("confluent-kafka",),
}
# The examples of examples/testcontainers.
CONTAINERS = {"test_testcontainers.py": tuple(TESTCONTAINERS_HOMES)}
# kafkajs joins again by itself when it finds another coordinator. sarama's commits do not tell errors.
STEADY = ("java", "confluent-kafka", "franz-go", "aiokafka", "kafka-python")
ALL_CLIENTS = (*FOREIGN, *CONSUMERS)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """The contract is for the clients that are named, and for nobody where none is; Kafka's tools come with Java.

    Some files are for those that have the protocol of KIP-848.
    """
    if collection_path.name == MOVING:
        return None if set(STEADY) & set(_named_clients(config)) else True
    if collection_path.name == CONTRACT:
        return None if config.getoption("--clients") else True
    if collection_path.name in TOOLS:
        return None if "java" in _named_clients(config) else True
    able = (WITH_BOTH_PROTOCOLS | WHAT_IF | CONTAINERS).get(collection_path.name)
    if able is not None:
        return None if set(able) & set(_named_clients(config)) else True
    return None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A scenario of the contract runs with each named client that can take part in it; those of KIP-848,
    with the clients that have it.
    """
    scenario = metafunc.definition.originalname.removeprefix("test_")
    able = WITH_BOTH_PROTOCOLS.get(Path(metafunc.module.__file__ or "").name)
    if able is not None:
        named = [client for client in _named_clients(metafunc.config) if client in able]
        metafunc.parametrize("client", [client for client in named if (client, scenario) not in LACKS_OF_CONSUMERS])
        return
    name = Path(metafunc.module.__file__ or "").name
    if name in CONTAINERS and "client" in metafunc.fixturenames:
        metafunc.parametrize("client", [client for client in _named_clients(metafunc.config) if client in CONTAINERS[name]])
        return
    if name == MOVING:
        steady = [client for client in _named_clients(metafunc.config) if client in STEADY]
        both = WITH_BOTH_PROTOCOLS["test_consumer_contract.py"]
        pairs = [(client, each) for client in steady for each in ("classic", "consumer") if each == "classic" or client in both]
        metafunc.parametrize(("client", "protocol"), pairs)
        return
    if "client" not in metafunc.fixturenames or name != CONTRACT:
        return
    named = _named_clients(metafunc.config)
    metafunc.parametrize("client", [client for client in named if (client, scenario) not in LACKS])


def _named_clients(config: pytest.Config) -> list[str]:
    given: str = config.getoption("--clients")
    named = list(ALL_CLIENTS) if given == "all" else [name for name in given.split(",") if name]
    if strangers := set(named) - set(ALL_CLIENTS):
        raise pytest.UsageError(f"--clients: {', '.join(sorted(strangers))} not known, there are {', '.join(ALL_CLIENTS)}")
    return named


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """The contract as a table: clients and scenarios, with the seconds that each took."""
    if config.getoption("--clients"):
        for line in (*contract_table(terminalreporter, _named_clients(config)), *pauses(terminalreporter)):
            terminalreporter.write_line(line)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent.name == "interop":
            item.add_marker(pytest.mark.interop)


@pytest.fixture(scope="session")
def nodes(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[NodeCluster | None]:
    """The nodes of ``--nodes``; None without it."""
    number = request.config.getoption("--nodes")
    if not number:
        yield None
        return
    database: PostgresqlServer = request.getfixturevalue("postgresql")
    cluster = NodeCluster(tmp_path_factory.mktemp("nodes"), database.url(database.empty_database()), number)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.close()


@pytest.fixture(scope="session")
def shared_bootstrap(
    request: pytest.FixtureRequest, nodes: NodeCluster | None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """A server for tests that leave it as they found it, but for topics and groups of their own names."""
    if given := request.config.getoption("--bootstrap") or (nodes and nodes.bootstrap):
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
def crew_of(fresh_name: str) -> Iterator[Callable[[str, str], Crew]]:
    """Makes the group of one test, of a client, on a topic of its own with six partitions; its members are gone after the test."""
    crews: list[Crew] = []

    def make(client: str, bootstrap: str) -> Crew:
        ConfluentAdmin(bootstrap).create_topic(fresh_name, PARTITIONS)
        crews.append(Crew(client, bootstrap, fresh_name, fresh_name, PARTITIONS))
        return crews[-1]

    yield make
    for crew in crews:
        crew.__exit__()


@pytest.fixture
def crew_on(library: str, crew_of: Callable[[str, str], Crew]) -> Callable[[str], Crew]:
    """The same with the library that the test is run for."""
    return lambda bootstrap: crew_of(library, bootstrap)


@pytest.fixture
def crew(crew_on: Callable[[str], Crew], shared_bootstrap: str) -> Crew:
    return crew_on(shared_bootstrap)
