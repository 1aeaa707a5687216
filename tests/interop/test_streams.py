"""Applications of Kafka Streams, most with ``group.protocol=streams``, and Kafka's tool for them, here and beside a broker:
the same steps, the same words; where `--clients` names java.

A topology has a subtopology that reads the topic. The stateful one has a second one, behind a repartition topic, with a changelog
topic. Nothing is processed: this server stores no records, and nobody writes any to the broker.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.interop.crew import ClientProcess, Refused
from tests.interop.programs import java_command
from tests.support.eventually import eventually
from tests.support.kafka_broker import KafkaBroker
from tests.support.server import Server

GROUPS = "org.apache.kafka.tools.streams.StreamsGroupCommand"
TOPICS = "org.apache.kafka.tools.TopicCommand"
CONFIGS = "kafka.admin.ConfigCommand"
PARTITIONS = 3
# An instance that dies is missed after the session timeout; members hear of new tasks with their next heartbeat.
SETTINGS = {
    "group.streams.min.heartbeat.interval.ms": 300,
    "group.streams.heartbeat.interval.ms": 300,
    "group.streams.min.session.timeout.ms": 5000,
    "group.streams.session.timeout.ms": 5000,
    "group.streams.initial.rebalance.delay.ms": 0,
}
# A broker that has nobody else to ask gives up its leases late: the machine may be slow.
PATIENT = {"broker.session.timeout.ms": 90_000, "broker.heartbeat.interval.ms": 5_000}
IN_MEMORY = "org.apache.kafka.streams.state.BuiltInDslStoreSuppliers$InMemoryDslStoreSuppliers"

Tool = Callable[..., str]
Row = dict[str, str]


class Place(NamedTuple):
    """A server, what runs tools against it, and what starts instances of the application, which is called as its topic is."""

    tool: Tool
    instance: Callable[..., ClientProcess]


@pytest.fixture(scope="module")
def tools() -> Iterator[ClientProcess]:
    process = ClientProcess(java_command("Tools"))
    yield process
    process.clean_up()


@pytest.fixture
def instances() -> Iterator[list[ClientProcess]]:
    started: list[ClientProcess] = []
    yield started
    for each in started:
        each.clean_up()


@pytest.fixture(scope="module", params=["ours", "kafka"])
def bootstrap(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    directory = tmp_path_factory.mktemp(request.param)
    if request.param == "ours":
        with Server(directory, overrides=SETTINGS) as server:
            yield server.bootstrap
    else:
        with KafkaBroker(directory).start({**SETTINGS, **PATIENT}) as broker:
            yield f"{broker.address[0]}:{broker.address[1]}"


def place_at(bootstrap: str, name: str, tools: ClientProcess, instances: list[ClientProcess], directory: Path) -> Place:
    def tool(words: str, *, of: str = GROUPS, code: int | None = 0) -> str:
        ended, printed = tools.call(of, ["--bootstrap-server", bootstrap, *words.split()], within_s=120)
        assert code is None or ended == code, printed
        return "\n".join(line for line in str(printed).splitlines() if not line.startswith(("\tat ", "Tools$", "null")))

    def instance(kind: str, **more: str) -> ClientProcess:
        settings = {
            **{key.replace("_", "."): value for key, value in more.items()},
            "state.dir": str(directory / str(len(instances))),
            "dsl.store.suppliers.class": IN_MEMORY,
            "application.server": f"here:{len(instances) + 1}",
        }
        instances.append(ClientProcess([*java_command("Streams"), bootstrap, name, name, kind, json.dumps(settings)]))
        return instances[-1]

    tool(f"--create --topic {name} --partitions {PARTITIONS}", of=TOPICS)
    return Place(tool, instance)


@pytest.fixture
def place(bootstrap: str, fresh_name: str, tools: ClientProcess, instances: list[ClientProcess], tmp_path: Path) -> Place:
    return place_at(bootstrap, fresh_name, tools, instances, tmp_path)


def rows(printed: str) -> list[Row]:
    """A table as the tool prints it, sorted: members come in the order of their ids, topics in any order."""
    lines = [line.replace(" (", "(").split() for line in printed.splitlines()]
    heads = [number for number, words in enumerate(lines) if words[:1] == ["GROUP"]]
    if not heads:
        return []
    head = lines[heads[0]]
    return sorted([dict(zip(head, words, strict=False)) for words in lines[heads[0] + 1 :] if len(words) > 1], key=str)


def held(crew: list[ClientProcess]) -> list[dict[str, Any]]:
    """What each instance has; one that has ended has nothing."""
    found = []
    for each in crew:
        try:
            found.append(each.call("tasks", None))
        except Refused:
            found.append({"state": "ended", "active": [], "standby": []})
    return found


def await_tasks(crew: list[ClientProcess], active: set[str], replicas: int = 0) -> None:
    """All run, each task is active once, as equally as that goes, and those of subtopology 1 have replicas at other instances."""

    def is_divided() -> bool:
        parts = held(crew)
        counts = [len(part["active"]) + len(part["standby"]) for part in parts]
        standby = Counter(task for part in parts for task in part["standby"])
        return (
            {part["state"] for part in parts} == {"RUNNING"}
            and sorted(task for part in parts for task in part["active"]) == sorted(active)
            and standby == {task: replicas for task in active if replicas and task.startswith("1_")}
            and not any(set(part["active"]) & set(part["standby"]) for part in parts)
            and max(counts) - min(counts) <= 1
        )

    eventually(is_divided, 60, lambda: [*held(crew), *(each.errors() for each in crew)])


def tasks(partitions: int, subtopologies: int = 1) -> set[str]:
    return {f"{number}_{partition}" for number in range(subtopologies) for partition in range(partitions)}


def test_a_stateful_application_from_its_first_instance_to_its_end(place: Place, fresh_name: str) -> None:
    """Three instances share its tasks, and take over from those that leave or die. Kafka's tool shows the group, and deletes it."""
    tool, group = place.tool, f"--group {fresh_name}"
    tool(
        f"--alter --entity-type groups --entity-name {fresh_name} --add-config streams.num.standby.replicas=1",
        of=CONFIGS,
    )
    crew = [place.instance("stateful") for _ in range(3)]
    await_tasks(crew, tasks(PARTITIONS, 2), replicas=1)

    # What lives.
    made = tool("--list", of=TOPICS).split()
    assert {each for each in made if each.startswith(f"{fresh_name}-")} == {
        f"{fresh_name}-values-repartition",
        f"{fresh_name}-KSTREAM-AGGREGATE-STATE-STORE-0000000002-changelog",
    }
    assert {"GROUP": fresh_name, "STATE": "Stable"} in rows(tool("--list --state"))
    [state] = rows(tool(f"--describe {group} --state --verbose"))
    assert (state["STATE"], state["#MEMBERS"]) == ("Stable", "3")
    assert state["GROUP-EPOCH"] == state["TARGET-ASSIGNMENT-EPOCH"]
    unread = rows(tool(f"--describe {group}"))
    assert [(row["TOPIC"], row["PARTITION"], row["OFFSET-LAG"]) for row in unread] == sorted(
        (topic, str(partition), "0")
        for topic in (fresh_name, f"{fresh_name}-values-repartition")
        for partition in range(PARTITIONS)
    )
    members = tool(f"--describe {group} --members --verbose")
    assert members.count("ACTIVE: ") == 6
    assert members.count("STANDBY: ") == 6
    assert members.count("StreamsGroupMemberDescription") == 0
    assert f"Streams group '{fresh_name}' is not EMPTY." in tool(f"--delete {group}")

    # One leaves, one dies.
    crew[0].end()
    await_tasks(crew[1:], tasks(PARTITIONS, 2), replicas=1)
    crew[1].die()
    await_tasks(crew[2:], tasks(PARTITIONS, 2))

    # It ends.
    crew[2].end()
    assert [(row["STATE"], row["#MEMBERS"]) for row in rows(tool(f"--describe {group} --state"))] == [("Empty", "0")]
    assert f"Deletion of requested streams groups ('{fresh_name}') was successful." in tool(f"--delete {group}")
    assert fresh_name not in tool("--list").split()


def test_a_topic_that_grows_has_more_tasks(place: Place, fresh_name: str) -> None:
    """An application without state follows its topic. With state, its repartition topics would have to grow as well."""
    crew = [place.instance("stateless") for _ in range(2)]
    await_tasks(crew, tasks(PARTITIONS))

    place.tool(f"--alter --topic {fresh_name} --partitions 6", of=TOPICS)

    await_tasks(crew, tasks(6))


def test_a_classic_application_changes_its_protocol_when_it_has_ended(place: Place, fresh_name: str) -> None:
    """Before KIP-1071 an application assigns its tasks itself, and makes its topics. Its empty group becomes a streams group."""
    crew = [place.instance("stateful", group_protocol="classic", num_standby_replicas="1") for _ in range(2)]
    await_tasks(crew, tasks(PARTITIONS, 2), replicas=1)
    assert fresh_name not in place.tool("--list").split()
    for each in crew:
        each.end()

    crew = [place.instance("stateful")]

    await_tasks(crew, tasks(PARTITIONS, 2))
    assert fresh_name in place.tool("--list").split()


def test_instances_survive_the_death_of_the_server(
    tmp_path: Path, fresh_name: str, tools: ClientProcess, instances: list[ClientProcess]
) -> None:
    """They keep their ids and their tasks, and run on."""
    with Server(tmp_path, overrides={**SETTINGS, "group.streams.session.timeout.ms": 45_000}) as server:
        place = place_at(server.bootstrap, fresh_name, tools, instances, tmp_path)
        crew = [place.instance(kind) for kind in ("stateful", "stateful")]
        await_tasks(crew, tasks(PARTITIONS, 2))
        before, members = held(crew), f"--describe --group {fresh_name} --members --verbose"
        described = place.tool(members)

        server.kill()
        server.start()

        eventually(lambda: place.tool(members, code=None) == described, 60, lambda: place.tool(members, code=None))
        assert held(crew) == before
        for each in crew:
            each.end()
        # The last one does not wait for the answer to its leave.
        state = f"--describe --group {fresh_name} --state"
        eventually(lambda: [each["STATE"] for each in rows(place.tool(state))] == ["Empty"], 60, lambda: place.tool(state))
