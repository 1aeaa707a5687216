"""``groups why | at | restore | expiring`` and ``replay --at TIME``, against a server and its log."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from coordinator_server.cli.times import moment_ms
from coordinator_server.cli.times import shown as shown_time
from coordinator_server.runtime.partitioner import partition_for
from protocol.error_codes import ErrorCode
from tests.support.client import Client
from tests.support.command_forks import run_command
from tests.support.members import Member, form_group, join_all
from tests.support.server import Server
from tests.support.simple_requests import committed, make_topic, must_commit

GROUP = "readers"


def command(*words: object) -> subprocess.CompletedProcess[str]:
    return run_command(*map(str, words))


def answer(*words: object) -> Any:
    done = command(*words, "--json")
    assert done.returncode == 0, done.stderr
    return msgspec.json.decode(done.stdout)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with Server(tmp_path) as server:
        with Client(server.address) as client:
            make_topic(client, "orders", 4)
        yield server


def now() -> str:
    """A moment that nothing else happens in."""
    time.sleep(0.05)
    text = datetime.now(UTC).isoformat()
    time.sleep(0.05)
    return text


def history(server: Server) -> str:
    """A member commits, a moment passes, it commits on, another one comes, both leave. The moment."""
    members = form_group(server.address, GROUP, 1)
    assert set(members[0].commit("orders", {0: 1, 1: 2}).values()) == {ErrorCode.NONE}
    moment = now()
    assert set(members[0].commit("orders", {0: 100, 2: 300}).values()) == {ErrorCode.NONE}
    newcomer = Member(server.address, GROUP)
    join_all(members, [newcomer])
    for member in (*members, newcomer):
        assert member.leave() == ErrorCode.NONE
    return moment


def test_why_tells_every_generation_and_who_caused_it(server: Server) -> None:
    """In the order of the log; the last member's leaving too."""
    history(server)

    events = answer("groups", "why", GROUP, "--data-dir", server.data_dir)

    commits = [event for event in events if event["what"] == "offsets committed"]
    events = [event for event in events if event not in commits]
    assert [(event["what"], event.get("generation")) for event in events] == [
        ("created", 0),
        ("generation", 1),
        ("generation", 2),
        ("empty", 3),
    ]
    assert [[(each["partition"], each["before"], each["after"]) for each in event["changes"]] for event in commits] == [
        [(0, None, 1), (1, None, 2)],
        [(0, 1, 100), (2, None, 300)],
    ]
    assert events[1]["joined"] == [commits[0]["by"]["member_id"]]
    assert all(event["after_ms"] >= 0 for event in events[1:])
    assert events[2]["by"]["reasons"][0]["why"] == "member-joined"
    assert events[-1]["by"]["reasons"][-1]["why"] == "member-left"
    assert events[-1]["by"]["client_id"] == "tests"
    told = command("groups", "why", GROUP, "--data-dir", server.data_dir).stdout
    assert re.search(
        r"generation 2, 2 members, after \d\.\d s: tests-\S+ at 127\.0\.0\.1 joined \(stored by leader tests-\S+ at 127\.0\.0\.1\)",
        told,
    )
    assert re.search(
        r"generation 3, empty, after \d\.\d s: tests-\S+ at 127\.0\.0\.1 left.* \(LeaveGroup v\d of tests at 127\.0\.0\.1\)", told
    )


def test_an_index_answers_as_the_log_does(server: Server) -> None:
    """Made while the server runs, which seals nothing for it; what comes later is read from the log."""
    moment = history(server)
    segments = len(list(server.data_dir.glob("__consumer_offsets-*/*.log")))
    made = answer("index", "--data-dir", server.data_dir)
    with Client(server.address) as client:
        must_commit(client, GROUP, "orders", {3: 7})
    questions = [("why",), ("why", "--each", "--limit", "2"), ("why", "--since", moment), ("at", moment), ("at", now())]

    def answers() -> list[Any]:
        return [answer("groups", what, GROUP, *more, "--data-dir", server.data_dir) for what, *more in questions]

    with_index = answers()
    assert made["records"] >= len(with_index[0]) - 1 > 4
    shutil.rmtree(server.data_dir / "index")
    assert answers() == with_index
    assert len(list(server.data_dir.glob("__consumer_offsets-*/*.log"))) == segments


def test_groups_at_shows_a_group_at_a_past_time(server: Server) -> None:
    """With its members and offsets, while the server runs and after it was killed; replay says the same."""
    moment = history(server)

    beside = answer("groups", "at", GROUP, moment, "--data-dir", server.data_dir)
    server.kill()
    alone = answer("groups", "at", GROUP, moment, "--data-dir", server.data_dir)
    [shard] = [state for state in answer("replay", "--at", moment, "--data-dir", server.data_dir) if state["groups"]]

    assert {(each["topic"], each["partition"]): each["offset"] for each in beside["group"]["offsets"]} == {
        ("orders", 0): 1,
        ("orders", 1): 2,
    }
    assert (beside["group"]["generation"], len(beside["group"]["members"])) == (1, 1)
    assert alone["group"] == beside["group"]
    assert shard["groups"] == [beside["group"]]


def test_readers_of_a_running_server_see_all_that_is_durable_and_seal_nothing(server: Server, tmp_path: Path) -> None:
    """Every shard would begin a segment for each of them."""
    history(server)

    def files() -> list[Path]:
        return sorted(server.data_dir.glob("__*/*"))

    before = files()
    told = [
        command(*words, "--data-dir", server.data_dir).stdout
        for words in (
            ("groups", "why", GROUP),
            ("groups", "at", GROUP, now()),
            ("replay", "--why"),
            ("replay", "--at", now()),
            ("transactions", "list"),
            ("verify", "--engine", "python"),
            ("history", "--out", tmp_path / "history", "--engine", "python"),
            ("backup", "--to", tmp_path / "backup"),
        )
    ]

    assert files() == before
    restored = command("restore", "--from", tmp_path / "backup", "--data-dir", tmp_path / "restored")
    assert restored.returncode == 0, restored.stderr
    told.append(command("replay", "--data-dir", tmp_path / "restored").stdout)
    assert "generation 3, empty" in told[0]
    assert "the full history, the compacted log and the server agree on 1 group and 1 topic" in told[5]
    assert re.search(r"4 commits, 4 generations", told[6]), told[6]
    for each in (*told[1:4], told[-1]):
        assert re.search(r"orders\s+2\s+300\b", each) or re.search(r"orders-2\D+300\b", each), each


def test_replay_beside_a_server_says_what_it_does_not_see(server: Server) -> None:
    """Where a script looks for groups."""
    history(server)

    shard = ("--shard", f"__consumer_offsets-{partition_for(GROUP, 50)}")
    told = command("replay", "--no-seal", *shard, "--data-dir", server.data_dir)

    assert told.stderr.splitlines()[0] == (
        "coordinator-server: nothing in the sealed segments, and the server runs: "
        "without --no-seal its open segments are read, too"
    )
    assert GROUP in command("replay", "--data-dir", server.data_dir).stdout


def test_restore_shows_what_would_change_and_then_does_it(server: Server) -> None:
    """Offsets go back, later ones go, in one operation that the log names, and that survives a kill -9."""
    moment = history(server)
    words = ("groups", "restore", GROUP, "--at", moment, "--data-dir", server.data_dir)

    shown = answer(*words)
    with Client(server.address) as client:
        untouched = committed(client, GROUP)
    done = answer(*words, "--execute")

    assert untouched == {("orders", 0): 100, ("orders", 1): 2, ("orders", 2): 300}
    assert [(each["partition"], each["before"], each["after"], each["outcome"]) for each in shown] == [
        (0, 100, 1, "would be set"),
        (1, 2, 2, "unchanged"),
        (2, 300, None, "would be deleted"),
    ]
    assert [each["outcome"] for each in done] == ["set", "unchanged", "deleted"]
    server.kill()
    server.start()
    with Client(server.address) as client:
        assert committed(client, GROUP) == {("orders", 0): 1, ("orders", 1): 2}
    *_, restored, last = answer("groups", "why", GROUP, "--data-dir", server.data_dir)
    assert (restored["what"], len(restored["changes"])) == ("offsets restored", 1)
    assert (last["what"], last["by"]["reasons"][0]["why"]) == ("offsets deleted", "offsets-restored")
    told = command("groups", "why", GROUP, "--data-dir", server.data_dir).stdout.splitlines()[-2]
    assert f"1 offset restored, orders-0 100 → 1: a restore to {shown_time(moment_ms(moment))}" in told


def test_a_group_with_members_is_not_restored(server: Server) -> None:
    """The answer says what to do; nothing changes."""
    with Client(server.address) as client:
        must_commit(client, GROUP, "orders", {0: 1})
        moment = now()
        must_commit(client, GROUP, "orders", {0: 2})
    [member] = form_group(server.address, GROUP, 1)

    done = command("groups", "restore", GROUP, "--at", moment, "--execute", "--data-dir", server.data_dir)

    assert done.returncode == 1
    assert "NON_EMPTY_GROUP: group readers is Stable: stop its members first" in done.stderr
    with Client(server.address) as client:
        assert committed(client, GROUP) == {("orders", 0): 2}
    member.client.close()


def test_unknown_groups_and_times_are_refused_in_one_line(server: Server) -> None:
    """Unknown groups, times before the group, a server that does not run."""
    moment = history(server)

    unknown = command("groups", "why", "nobody", "--data-dir", server.data_dir)
    before = command("groups", "at", GROUP, "2001-01-01", "--data-dir", server.data_dir)
    wrong = command("groups", "at", GROUP, "yesterday", "--data-dir", server.data_dir)
    assert server.stop() == 0
    stopped = command("groups", "restore", GROUP, "--at", moment, "--execute", "--data-dir", server.data_dir)

    assert (unknown.returncode, unknown.stderr.count("\n")) == (1, 1)
    assert "does not mention group nobody" in unknown.stderr
    assert (before.returncode, before.stderr.count("\n")) == (1, 1)
    assert "group readers did not exist at 2001-01-01T00:00:00.000Z" in before.stderr
    assert wrong.returncode == 2
    assert "'yesterday' is not a time" in wrong.stderr
    assert (stopped.returncode, stopped.stderr.count("\n")) == (1, 1)
    assert "start it, then restore" in stopped.stderr


def test_groups_expiring_shows_when_offsets_expire(tmp_path: Path) -> None:
    """For a simple group, a retention after each commit."""
    with Server(tmp_path, {"offsets.retention.minutes": 60}) as server:
        with Client(server.address) as client:
            make_topic(client, "orders", 2)
            must_commit(client, GROUP, "orders", {1: 5})

        [due] = answer("groups", "expiring", GROUP, "--data-dir", server.data_dir)

        assert (due["topic"], due["partition"]) == ("orders", 1)
        assert 3_500_000 < moment_ms(due["expires"]) - time.time() * 1000 <= 3_600_000


def test_group_requests_over_control_reach_the_loop_that_owns_the_shard(tmp_path: Path) -> None:
    """The request names the shard; the loop that owns it answers."""
    with Server(tmp_path, loops=2) as server:
        with Client(server.address) as client:
            make_topic(client, "orders", 2)
        for number in range(4):
            group_id = f"simple-{number}"
            with Client(server.addresses[partition_for(group_id, 50) % 2]) as client:
                must_commit(client, group_id, "orders", {0: 5})
                moment = now()
                must_commit(client, group_id, "orders", {0: 6})

            done = answer("groups", "restore", group_id, "--at", moment, "--execute", "--data-dir", server.data_dir)

            assert [(each["group"], each["outcome"]) for each in done] == [(group_id, "set")]


def test_why_follows_what_happens(server: Server) -> None:
    """From what the log has on, until ctrl-C."""
    words = ("groups", "why", GROUP, "--follow", "--data-dir", server.data_dir, "-o", "jsonl")
    with Client(server.address) as client:
        must_commit(client, GROUP, "orders", {0: 1})
        command_line = [sys.executable, "-m", "coordinator_server", *map(str, words)]
        with subprocess.Popen(command_line, stdout=subprocess.PIPE, text=True) as follower:
            assert follower.stdout is not None
            first = msgspec.json.decode(follower.stdout.readline())
            must_commit(client, GROUP, "orders", {0: 2})
            second = msgspec.json.decode(follower.stdout.readline())
            follower.send_signal(signal.SIGINT)
            assert follower.wait(20) == 130

    assert [[(each["before"], each["after"]) for each in event["changes"]] for event in (first, second)] == [
        [(None, 1)],
        [(1, 2)],
    ]
    assert command(*words[:4], "--until", "2029-01-01", *words[4:]).returncode == 2


def test_groups_waiting_names_late_members(tmp_path: Path) -> None:
    """Of several loops, too: all groups, or those that are named. Nobody is late in a group that is settled."""
    with Server(tmp_path, loops=2) as server:
        groups = sorted({partition_for(f"g-{number}", 50) % 2: f"g-{number}" for number in range(8)}.items())
        late: dict[str, str] = {}
        newcomers = []
        for loop, group_id in groups:
            [member] = form_group(server.addresses[loop], group_id, 1)
            newcomers.append(Member(server.addresses[loop], group_id))
            newcomers[-1].start_join()
            member.await_rebalance()
            late[group_id] = member.member_id
        words = ("groups", "waiting", "--data-dir", server.data_dir, "-o", "json")

        rows = msgspec.json.decode(command(*words).stdout)
        [one] = msgspec.json.decode(command(*words, groups[1][1]).stdout)
        none = command(*words[:4], "nobody")

    assert {each["group"]: each["member"] for each in rows} == late
    assert {(each["waits_for"], each["client_id"], each["host"]) for each in rows} == {
        ("has not joined again", "tests", "127.0.0.1")
    }
    assert all(0 < each["out_in_s"] < 60 and each["since"] for each in rows)
    assert one["member"] == late[groups[1][1]]
    assert (none.returncode, none.stdout, none.stderr) == (1, "", "coordinator-server: there is no group nobody\n")
    stopped = command(*words)
    assert (stopped.returncode, stopped.stderr.count("\n")) == (1, 1)
    assert "only a running server knows who is late" in stopped.stderr


def test_why_shows_the_commits_that_the_server_has_refused(server: Server) -> None:
    """They are not in the log: the last ones, and how many there were."""
    [member] = form_group(server.address, GROUP, 1)
    assert set(member.commit("orders", {0: 1}).values()) == {ErrorCode.NONE}
    member.generation_id += 1
    for _ in range(7):
        assert set(member.commit("orders", {0: 2}).values()) == {ErrorCode.ILLEGAL_GENERATION}

    told = command("groups", "why", GROUP, "--data-dir", server.data_dir)

    lines = [line.partition("Z  ")[2] for line in told.stdout.splitlines()]
    assert [line.startswith("commit refused, ILLEGAL_GENERATION (OffsetCommit v9 of tests-") for line in lines[-6:]] == [
        False,
        *[True] * 5,
    ]
    assert "since its start the server has refused 7 commits of this group: 7 ILLEGAL_GENERATION" in told.stderr
    assert server.stop() == 0
    assert "refused" not in command("groups", "why", GROUP, "--data-dir", server.data_dir).stdout
