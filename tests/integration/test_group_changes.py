"""``coordinator-server groups`` that changes a group of a running server: one server for the file,
and groups of each test's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from coordinator_server.testing import Coordinator
from tests.support.client import Client
from tests.support.cluster_commands import Command, join_consumer, join_share, join_streams
from tests.support.members import form_group
from tests.support.simple_requests import must_commit


@pytest.fixture(scope="module")
def server() -> Iterator[Coordinator]:
    with Coordinator(topics={"orders": 3, "bills": 1}) as server:
        yield server


@pytest.fixture
def ask(server: Coordinator, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(server.bootstrap_servers, capsys)


@pytest.fixture
def client(server: Coordinator) -> Iterator[Client]:
    with Client((server.host, server.port)) as client:
        yield client


def offsets(server: Coordinator, group: str) -> dict[tuple[str, int], int]:
    return {(at.topic, at.partition): offset for at, offset in server.committed(group).items()}


def shifts(rows: Any) -> list[tuple[int, int | None, int]]:
    return [(each["partition"], each["before"], each["after"]) for each in rows]


def test_a_reset_is_shown_and_made_with_execute(ask: Command, server: Coordinator, client: Client) -> None:
    """The partitions that are named, also those without an offset; the others stay."""
    must_commit(client, "reset", "orders", {0: 5, 1: 7})
    words = ("groups", "reset", "reset", "--topic", "orders:0,2", "--to-offset", "42")

    preview = ask.rows(*words)
    unchanged = offsets(server, "reset")
    done = ask.rows(*words, "--execute")

    assert shifts(preview) == shifts(done) == [(0, 5, 42), (2, None, 42)]
    assert unchanged == {("orders", 0): 5, ("orders", 1): 7}
    assert offsets(server, "reset") == {("orders", 0): 42, ("orders", 1): 7, ("orders", 2): 42}


@pytest.mark.parametrize(
    ("target", "after"),
    [
        (["--to-earliest"], [0, 0]),
        (["--to-latest"], [0, 0]),
        (["--to-current"], [5, 7]),
        (["--shift-by", "3"], [8, 10]),
        (["--shift-by", "-6"], [0, 1]),
        (["--to-datetime", "2026-01-01"], [0, 0]),
        (["--by-duration", "P1DT12H"], [0, 0]),
    ],
)
def test_every_target_of_kafkas_tool(ask: Command, client: Client, target: list[str], after: list[int]) -> None:
    """Of all topics: the partitions that the group has committed.

    Topics of this server have no messages, and begin and end at 0.
    """
    must_commit(client, "targets", "orders", {0: 5, 1: 7})

    assert [each["after"] for each in ask.rows("groups", "reset", "targets", "--all-topics", *target)] == after


def test_a_group_with_members_keeps_its_offsets_and_names_them(ask: Command, server: Coordinator, client: Client) -> None:
    """Each command that needs an empty group says who is connected, whether it would change something or not."""
    join_consumer(client, "busy", "m1", "orders", range(3))
    must_commit(client, "source", "orders", {0: 1})

    refused = [
        ask(*words.split(), *execute)
        for words in (
            "groups reset busy --topic orders:0 --to-offset 1",
            "groups clone source busy",
            "groups delete busy",
        )
        for execute in ((), ("--execute",))
    ]

    assert [each.code for each in refused] == [1] * 6
    assert all("the group has 1 member: stop them first" in each.out for each in refused)
    assert all("group busy has member m1 of tests at 127.0.0.1" in each.err for each in refused)
    assert offsets(server, "busy") == {}


def test_a_clone_has_the_offsets_of_its_origin(ask: Command, server: Coordinator, client: Client) -> None:
    must_commit(client, "origin", "orders", {0: 5, 2: 9})

    done = ask("groups", "clone", "origin", "copy", "--execute")

    assert done.code == 0
    assert "does not exist: it is created" in done.err
    assert offsets(server, "copy") == offsets(server, "origin") == {("orders", 0): 5, ("orders", 2): 9}
    assert ask("groups", "clone", "nobody", "copy").code == 1


@pytest.mark.parametrize("form", ["csv", "json", "jsonl"])
def test_what_is_exported_can_be_imported(ask: Command, server: Coordinator, client: Client, form: str, tmp_path: Path) -> None:
    """In each form that has all fields, of several groups."""
    must_commit(client, "ex1", "orders", {0: 5})
    must_commit(client, "ex2", "bills", {0: 6})
    file = tmp_path / "offsets"
    file.write_text(ask("groups", "export", "ex1", "ex2", "-o", form).out)
    ask("groups", "delete", "ex1", "ex2", "--execute")

    done = ask.rows("groups", "import", str(file), "--execute")

    assert [(each["group"], each["topic"], each["after"]) for each in done] == [("ex1", "orders", 5), ("ex2", "bills", 6)]
    assert (offsets(server, "ex1"), offsets(server, "ex2")) == ({("orders", 0): 5}, {("bills", 0): 6})


def test_files_of_kafkas_tool_are_read(ask: Command, tmp_path: Path) -> None:
    """Of one group without its name, and of several with it; reset takes those of its group."""
    one, several = tmp_path / "one.csv", tmp_path / "several.csv"
    one.write_text("orders,0,11\norders,1,12\n")
    several.write_text('"a","orders",0,11\n"b","orders",1,12\n')

    assert shifts(ask.rows("groups", "reset", "a", "--from-file", str(one))) == [(0, None, 11), (1, None, 12)]
    assert shifts(ask.rows("groups", "reset", "b", "--from-file", str(several))) == [(1, None, 12)]
    assert [each["group"] for each in ask.rows("groups", "import", str(one), "--group", "c")] == ["c", "c"]
    assert "row 1: it names no group" in ask("groups", "import", str(one)).err


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("group,topic,offset\ng,t,1\n", "row 1: it has no partition"),
        ("g,t,0,-1\n", "row 1: offset is '-1', not a number from 0"),
        ('{"group": "g", "topic": "t", "partition": "x", "offset": 1}', "partition is 'x'"),
        ("[1]", "is not JSON as"),
    ],
)
def test_a_file_that_is_wrong_is_exit_code_2(ask: Command, tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "offsets"
    file.write_text(text)
    done = ask("groups", "import", str(file))

    assert done.code == 2
    assert says in done.err


def test_groups_and_offsets_are_deleted(ask: Command, server: Coordinator, client: Client) -> None:
    """One row says how each ended, also if others are refused."""
    must_commit(client, "end", "orders", {0: 5, 1: 6})
    must_commit(client, "end", "bills", {0: 7})

    some = ask.rows("groups", "delete-offsets", "end", "--topic", "orders:1", "--topic", "bills", "--execute")
    left = offsets(server, "end")
    both = ask("groups", "delete", "end", "nobody", "--execute", "-o", "json")

    assert [(each["topic"], each["offset"], each["outcome"]) for each in some] == [
        ("bills", 7, "deleted"),
        ("orders", 6, "deleted"),
    ]
    assert left == {("orders", 0): 5}
    assert [(each["group"], each["outcome"]) for each in both.rows] == [("end", "deleted"), ("nobody", "refused")]
    assert both.code == 1
    assert "end" not in {each.group_id for each in server.groups()}


def test_members_of_every_type_are_evicted(ask: Command, server: Coordinator, client: Client) -> None:
    """Those that are meant: by member id, by client id, or all of them."""
    classic = form_group((server.host, server.port), "out-classic", 2)
    join_consumer(client, "out-consumer", "m1", "orders", range(3))
    join_share(client, "out-share", "s1", "orders")
    join_streams(client, "out-streams", "t1", "orders")
    first = classic[0].member_id

    one = ask.rows("groups", "evict", "out-classic", "--member", first, "--execute")
    nobody = ask("groups", "evict", "out-consumer", "--client-id", "other", "--execute")
    ask.rows("groups", "evict", "out-consumer", "--client-id", "tests", "--execute")
    ask.rows("groups", "evict", "out-share", "--all", "--execute")
    ask.rows("groups", "evict", "out-streams", "--all", "--execute")
    names = ("out-classic", "out-consumer", "out-share", "out-streams")
    left = {each["group"]: each["members"] for each in ask.rows("groups", "describe", *names)}
    for each in classic:
        each.client.close()

    assert [(each["member"], each["outcome"]) for each in one] == [(first, "evicted")]
    assert (nobody.code, "m1 of tests" in nobody.err) == (1, True)
    assert "--member, --instance, --client-id or --all" in nobody.err
    assert left == {"out-classic": 1, "out-consumer": 0, "out-share": 0, "out-streams": 0}


def test_share_partitions_start_where_they_are_set(ask: Command, client: Client) -> None:
    """The same commands, for a share group."""
    join_share(client, "start", "s1", "orders")
    ask("groups", "evict", "start", "--all", "--execute")

    moved = ask.rows("groups", "reset", "start", "--topic", "orders:1", "--to-offset", "33", "--execute")
    starts = {each["partition"]: each["offset"] for each in ask.rows("groups", "offsets", "start")}
    described = ask.rows("share", "describe", "start", "--topic", "orders", "--partition", "1")
    deleted = ask.rows("groups", "delete-offsets", "start", "--topic", "orders", "--execute")

    assert [each["after"] for each in moved] == [33]
    assert starts[1] == 33
    assert [(each["topic"], each["partition"], each["start_offset"]) for each in described] == [("orders", 1, 33)]
    assert [(each["topic"], each["outcome"]) for each in deleted] == [("orders", "deleted")]
    assert ask.rows("groups", "offsets", "start") == []


def test_only_share_groups_have_share_partitions(ask: Command, client: Client) -> None:
    must_commit(client, "plain", "orders", {0: 1})

    assert "plain is no share group: it is classic" in ask("share", "describe", "plain").err
    assert ask("share", "describe", "nobody").code == 1


@pytest.mark.parametrize(
    "words", ["--topic orders --to-offset -1", "--topic orders:x --to-offset 1", "--all-topics --by-duration 5m", "--all-topics"]
)
def test_a_wrong_target_is_exit_code_2(ask: Command, words: str) -> None:
    with pytest.raises(SystemExit) as ended:
        ask("groups", "reset", "g", *words.split())

    assert ended.value.code == 2
