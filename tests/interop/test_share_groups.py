"""Share groups with Kafka's own consumer and tool, here and beside a broker:
the same steps, the same words; where `--clients` names java.

The tool sends DescribeShareGroupOffsets, AlterShareGroupOffsets and DeleteShareGroupOffsets.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import pytest

from coordinator_server.runtime.partitioner import partition_for
from tests.interop.crew import ClientProcess
from tests.interop.programs import SHARING, java_command, share_member
from tests.support.eventually import eventually
from tests.support.kafka_broker import KafkaBroker
from tests.support.server import Server

GROUPS = "org.apache.kafka.tools.consumer.group.ShareGroupCommand"
TOPICS = "org.apache.kafka.tools.TopicCommand"
PARTITIONS = 3
# A broker that has nobody else to ask gives up its leases late: the machine may be slow.
PATIENT = {"broker.session.timeout.ms": 90_000, "broker.heartbeat.interval.ms": 5_000}

Tool = Callable[..., str]


@pytest.fixture(scope="module")
def tools() -> Iterator[ClientProcess]:
    process = ClientProcess(java_command("Tools"))
    yield process
    process.clean_up()


class Place(NamedTuple):
    """A server, what runs tools against it, and what starts members of the group, which is called as the topic is."""

    bootstrap: str
    tool: Tool
    member: Callable[..., ClientProcess]


def place_at(bootstrap: str, name: str, tools: ClientProcess, members: list[ClientProcess]) -> Place:
    def tool(words: str, *, of: str = GROUPS, code: int | None = 0) -> str:
        ended, printed = tools.call(of, ["--bootstrap-server", bootstrap, *words.split()], within_s=120)
        assert code is None or ended == code, printed
        return "\n".join(line for line in str(printed).splitlines() if not line.startswith(("\tat ", "Tools$", "null")))

    def member(client: str = "java") -> ClientProcess:
        members.append(ClientProcess([*share_member(client), bootstrap, name, name]))
        return members[-1]

    tool(f"--create --topic {name} --partitions {PARTITIONS}", of=TOPICS)
    return Place(bootstrap, tool, member)


@pytest.fixture
def members() -> Iterator[list[ClientProcess]]:
    started: list[ClientProcess] = []
    yield started
    for each in started:
        each.clean_up()


def rows(printed: str) -> list[dict[str, str]]:
    """A table as the tool prints it, in the order of its lines, whatever order the server has."""
    lines = [line.split() for line in printed.splitlines()]
    heads = [number for number, words in enumerate(lines) if words[:1] in (["GROUP"], ["TOPIC"])]
    if not heads:
        return []
    head = lines[heads[0]]
    found = [dict(zip(head, words, strict=False)) for words in lines[heads[0] + 1 :] if len(words) >= len(head) - 1]
    return sorted(found, key=lambda row: sorted(row.items()))


def assigned(place: Place, name: str) -> list[list[int]]:
    """What the members have, as the tool says it."""
    printed = place.tool(f"--describe --group {name} --members", code=None)
    if "ASSIGNMENT" not in printed:
        return []
    return sorted([int(each) for each in row.get("ASSIGNMENT", "").partition(":")[2].split(",") if each] for row in rows(printed))


def await_members(place: Place, name: str, count: int) -> None:
    """So many members have all partitions among them, as equally as that goes."""

    def is_divided() -> bool:
        parts = assigned(place, name)
        return len(parts) == count and sorted(chain.from_iterable(parts)) == list(range(PARTITIONS))

    eventually(is_divided, 60, lambda: assigned(place, name))


def await_polls(member: ClientProcess, more: int) -> None:
    """So many more polls end well."""
    [before, records] = member.call("polled", None)
    eventually(lambda: member.call("polled", None)[0] >= before + more, 60, member.errors)
    assert records == 0


@pytest.fixture(scope="module", params=["ours", "kafka"])
def bootstrap(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    directory = tmp_path_factory.mktemp(request.param)
    if request.param == "ours":
        with Server(directory) as server:
            yield server.bootstrap
    else:
        with KafkaBroker(directory).start(PATIENT) as broker:
            yield f"{broker.address[0]}:{broker.address[1]}"


@pytest.fixture
def place(bootstrap: str, fresh_name: str, tools: ClientProcess, members: list[ClientProcess]) -> Place:
    return place_at(bootstrap, fresh_name, tools, members)


def test_a_share_group_from_its_first_member_to_its_end(place: Place, fresh_name: str) -> None:
    """Members join, poll and leave; the tool lists and describes them, and refuses to change what they use,
    which it changes afterwards.
    """
    tool, group, topic = place.tool, f"--group {fresh_name}", f"--topic {fresh_name}"
    crew = [place.member(), place.member()]
    await_members(place, fresh_name, 2)
    for each in crew:
        await_polls(each, 3)

    # What lives.
    assert tool("--list").split() == [fresh_name]
    assert rows(tool("--list --state")) == [{"GROUP": fresh_name, "STATE": "Stable"}]
    assert tool("--list --state Empty").split()[2:] == []
    unread = [
        {"GROUP": fresh_name, "TOPIC": fresh_name, "PARTITION": str(each), "START-OFFSET": "-", "LAG": "-"} for each in range(3)
    ]
    assert rows(tool(f"--describe {group}")) == rows(tool(f"--describe {group} --offsets")) == unread
    listed = rows(tool(f"--describe {group} --members --verbose"))
    assert [(row["HOST"], row["CLIENT-ID"]) for row in listed] == [("/127.0.0.1", "sharing")] * 2
    assert sorted(row["#PARTITIONS"] for row in listed) == ["1", "2"]
    [state] = rows(tool(f"--describe {group} --state --verbose"))
    assert (state["STATE"], state["#MEMBERS"]) == ("Stable", "2")
    assert int(state["GROUP-EPOCH"]) == int(state["ASSIGNMENT-EPOCH"]) >= 3

    # Nobody changes it.
    assert f"Share group '{fresh_name}' is not EMPTY." in tool(f"--delete {group}")
    assert f"Share group '{fresh_name}' is not empty." in tool(f"--reset-offsets {group} {topic} --to-earliest --execute", code=1)
    assert "The group is not empty." in tool(f"--delete-offsets {group} {topic}")

    # They leave.
    crew[0].end()
    await_members(place, fresh_name, 1)
    crew[1].end()
    printed = tool(f"--describe {group} --state")
    assert f"Share group '{fresh_name}' has no active members." in printed
    assert [(row["STATE"], row["#MEMBERS"]) for row in rows(printed)] == [("Empty", "0")]

    # It is changed.
    new = [{"GROUP": fresh_name, "TOPIC": fresh_name, "PARTITION": str(each), "NEW-OFFSET": "0"} for each in range(3)]
    assert rows(tool(f"--reset-offsets {group} {topic} --to-latest --dry-run")) == new
    assert rows(tool(f"--describe {group}")) == unread
    assert rows(tool(f"--reset-offsets {group} {topic} --to-earliest --execute")) == new
    assert rows(tool(f"--describe {group}")) == [row | {"START-OFFSET": "0", "LAG": "0"} for row in unread]
    other = f"{fresh_name}-other"
    assert len(rows(tool(f"--reset-offsets --group {other} {topic} --to-earliest --execute"))) == PARTITIONS
    assert sorted(tool("--list").split()) == [fresh_name, other]
    assert rows(tool(f"--delete-offsets {group} {topic}")) == [{"TOPIC": fresh_name, "STATUS": "Successful"}]
    assert f"Share group '{fresh_name}' has no offset information." in tool(f"--describe {group}")

    # It ends.
    printed = tool(f"--delete {group} --group none")
    assert "Group 'none' is not a share group." in printed
    assert f"These share groups were deleted successfully: '{fresh_name}'" in printed
    assert tool("--list").split() == [other]
    assert f"Deletion of requested share groups ('{other}') was successful." in tool(f"--delete --group {other}")


def kill_loop(server: Server, group_id: str) -> None:
    """SIGKILL for the loop that owns a group; it starts again on its port."""
    loop = partition_for(group_id, 50) % server.loops
    pid = server.loop_pids()[loop]
    os.kill(pid, signal.SIGKILL)
    eventually(lambda: server.loop_pids()[loop] != pid)


@pytest.mark.parametrize(("loops", "clients"), [(1, ["java", "java"]), (1, [*SHARING]), (3, [*SHARING])])
def test_members_survive_the_death_of_the_server(
    tmp_path: Path, fresh_name: str, tools: ClientProcess, members: list[ClientProcess], loops: int, clients: list[str]
) -> None:
    """They keep their ids and their partitions, and poll on, whatever their library."""
    with Server(tmp_path, loops=loops) as server:
        place = place_at(server.bootstrap, fresh_name, tools, members)
        group = f"--group {fresh_name}"
        crew = [place.member(client) for client in clients]
        await_members(place, fresh_name, len(crew))
        before = rows(place.tool(f"--describe {group} --members"))
        if loops == 1:
            server.kill()
            server.start()
        else:
            kill_loop(server, fresh_name)
        for each in crew:
            await_polls(each, 10)

        eventually(lambda: rows(place.tool(f"--describe {group} --members", code=None)) == before, 60)
        for each in crew:
            each.end()
        assert "Empty" in place.tool(f"--describe {group} --state")
