"""Ids, names and metadata with control codes: no terminal and no log line gets one raw, whichever command shows them."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from coordinator_server.cli import COMMANDS, main
from coordinator_server.cli.times import shown
from protocol.error_codes import ErrorCode
from protocol.messages.describe_groups import DescribeGroupsRequest, DescribeGroupsResponse
from protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity
from protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment, SyncGroupResponse
from tests.support.client import Client
from tests.support.control import ask_control_raw
from tests.support.producer import Producer
from tests.support.server import Server

# Clears a screen, sets its title, forges a line, ends a C string, moves back, changes direction; C0, DEL, C1 and format characters.
HOSTILE = "\x1b[2J\x1b]0;owned\x07\r\nforged line\x00\x08\x7f\x9b31m\x85\u200e\u202e\u2028\u2066\ufeff\U000e0041"
GROUP, SIMPLE, CLIENT, INSTANCE, TRANSACTION = (
    f"{name}{HOSTILE}{name}" for name in ("group", "simple", "client", "instance", "transaction")
)
COMMITTED = 5


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that logs every request as text, with groups whose every text is hostile."""
    server = Server(tmp_path_factory.mktemp("server"), {"topics": "orders:2"})
    server.words = ["--log-level", "debug", "--log-format", "console"]
    with server:
        live(server)
        yield server


def live(server: Server) -> None:
    protocols = [JoinGroupRequestProtocol(HOSTILE, b"")]
    with Client(server.address, client_id=CLIENT) as client:
        joining = JoinGroupRequest(GROUP, 600_000, 600_000, "", INSTANCE, HOSTILE, protocols, HOSTILE)
        joined = client.ask(joining, 9, JoinGroupResponse)
        assert joined.error_code == ErrorCode.NONE, ErrorCode(joined.error_code)
        member = joined.member_id
        synced = SyncGroupRequest(GROUP, joined.generation_id, member, INSTANCE, HOSTILE, HOSTILE)
        synced.assignments = [SyncGroupRequestAssignment(member, HOSTILE.encode())]
        assert client.ask(synced, 5, SyncGroupResponse).error_code == ErrorCode.NONE
        for group, generation, who in ((GROUP, joined.generation_id, member), (SIMPLE, -1, "")):
            position = OffsetCommitRequestPartition(1, COMMITTED, committed_metadata=HOSTILE)
            commit = OffsetCommitRequest(
                group, generation, who, topics=[OffsetCommitRequestTopic("orders", partitions=[position])]
            )
            answer = client.ask(commit, 9, OffsetCommitResponse)
            assert answer.topics[0].partitions[0].error_code == ErrorCode.NONE
    with Producer(server.address, TRANSACTION) as producer:
        assert producer.init().error == ErrorCode.NONE
        assert producer.commit(SIMPLE, "orders", {0: COMMITTED}) == {ErrorCode.NONE}
    with Client(server.address, client_id=CLIENT) as client:
        [described] = client.ask(DescribeGroupsRequest([GROUP]), 5, DescribeGroupsResponse).groups
        assert described.members[0].client_id == CLIENT
        leaving = LeaveGroupRequest(SIMPLE, members=[MemberIdentity(HOSTILE, HOSTILE, HOSTILE)])
        [left] = client.ask(leaving, 5, LeaveGroupResponse).members
        assert (left.member_id, left.error_code) == (HOSTILE, ErrorCode.UNKNOWN_MEMBER_ID)


def is_clean(text: str) -> bool:
    return all(line.isprintable() for line in text.split("\n"))


def run(*words: str, capsys: pytest.CaptureFixture[str], code: int = 0) -> str:
    """Run a command that ends with that exit code; everything that it printed."""
    ended = main(words)
    printed = capsys.readouterr()

    assert ended == code, printed.err
    assert is_clean(printed.out), ascii(printed.out)
    assert is_clean(printed.err), ascii(printed.err)
    return printed.out + printed.err


# Every command, with everything that it can show of groups: {data}, {out} and {then} are filled in.
COMMAND_LINES = [
    "replay --data-dir {data}",
    "replay --data-dir {data} --why",
    "replay --data-dir {data} --digest",
    "groups why {group} --data-dir {data}",
    "groups why {missing} --data-dir {data}",
    "groups at {group} {then} --data-dir {data}",
    "groups at {group} 2001-01-01 --data-dir {data}",
    "groups what-if {group} --static --each --data-dir {data}",
    "groups what-if {missing} --data-dir {data}",
    "groups restore {simple} --at {then} --data-dir {data}",
    "groups restore {group} --at {then} --data-dir {data} --execute",
    "groups expiring {simple} --data-dir {data}",
    "groups lag {group} --data-dir {data}",
    "transactions list --data-dir {data}",
    "transactions describe {transaction} --data-dir {data}",
    "transactions why {transaction} --data-dir {data}",
    "transactions why {missing} --data-dir {data}",
    "transactions hanging --data-dir {data}",
    "transactions abort {missing} --data-dir {data} --execute",
    "transactions list --bootstrap {bootstrap}",
    "transactions describe {transaction} --bootstrap {bootstrap}",
    "transactions abort {missing} --bootstrap {bootstrap}",
    "topics list --bootstrap {bootstrap}",
    "topics describe {missing} --bootstrap {bootstrap}",
    "groups list --bootstrap {bootstrap}",
    "groups describe {group} {simple} --bootstrap {bootstrap}",
    "groups members {group} --verbose --bootstrap {bootstrap}",
    "groups offsets {group} {simple} --bootstrap {bootstrap}",
    "groups export {simple} --bootstrap {bootstrap}",
    "groups clone {simple} {missing} --bootstrap {bootstrap}",
    "groups delete {group} {missing} --bootstrap {bootstrap}",
    "groups evict {group} --all --bootstrap {bootstrap}",
    "completion bash",
    "top {group} --bootstrap {bootstrap}",
    "health --bootstrap {bootstrap}",
    "doctor --all --watch 0.1 --data-dir {data} --bootstrap {bootstrap}",
    "configs list --bootstrap {bootstrap}",
    "configs describe group {group} --all --bootstrap {bootstrap}",
    "kafka-consumer-groups --bootstrap-server {bootstrap} --describe --all-groups --members --verbose",
    "kafka-consumer-groups --bootstrap-server {bootstrap} --describe --all-groups",
    "share describe {missing} --data-dir {data}",
    "share at {missing} {then} --data-dir {data}",
    "share why {missing} --data-dir {data}",
    "verify --data-dir {data} --engine python",
    "compact --data-dir {data} --engine python",
    "history --data-dir {data} --out {out} --engine python",
    "pipeline compact history verify what-if --data-dir {data} --out {out} --engine python",
    "index --data-dir {data}",
    "promote --data-dir {data}",
    "page --data-dir {data} --listen {missing}",
    "observe --command-config {out} --data-dir {out}",
    "groups why {group} --data-dir {data}",
    "log verify --data-dir {data}",
    "backup --data-dir {data} --to {out}",
    "restore --from {data} --data-dir {out}",
    "store push --data-dir {data} --store postgresql://127.0.0.1:1/{missing}",
    "store pull --data-dir {out} --store postgresql://127.0.0.1:1/{missing}",
    "verify --store postgresql://127.0.0.1:1/{missing} --engine python",
    "shards list --data-dir {data}",
    "shards move {missing} --to 1 --data-dir {data}",
    "shards move --group {group} --to 0 --data-dir {data}",
    "shards move --from 0 --to 1 --data-dir {data}",
    "users list --data-dir {data}",
    "users list --bootstrap {bootstrap}",
    "quotas list --data-dir {data}",
    "quotas set request_percentage=1 --user {missing} --bootstrap {bootstrap}",
    "acls list --bootstrap {bootstrap}",
    "import --from {data} --data-dir {out}",
    "export --data-dir {data} --to {out}",
    "config --override topics={topics}",
    "serve --data-dir {out} --override topics={topics}",
]
# The exit codes of those that fail, by a part of the line. JSON has a null for the group that did not exist then.
FAILING = {
    "page": 2,
    "observe": 2,
    "promote": 2,
    "groups lag": 2,
    "what-if {group}": 1,
    "acls": 1,
    "clone": 0,
    "quotas set": 0,
    "shards move": 1,
    "{missing}": 1,
    "2001": 1,
    "--execute": 1,
    "import --from": 2,
    "restore --from": 2,
    "export --data": 2,
    "store push": 1,
    "topics=": 2,
}


@pytest.mark.parametrize("line", COMMAND_LINES)
@pytest.mark.parametrize("as_json", [False, True])
def test_no_command_prints_a_control_code(
    line: str, as_json: bool, server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Texts of clients are shown with escapes, and so are those of the command line in an error."""
    if as_json and line.split(maxsplit=1)[0] in (
        "serve",
        "completion",
        "config",
        "export",
        "import",
        "kafka-consumer-groups",
        "observe",
        "page",
    ):
        return
    then = shown(int(time.time() * 1000))
    values = {"bootstrap": server.bootstrap}
    values |= {"data": str(server.data_dir), "out": str(tmp_path / "out"), "then": then, "topics": f"{HOSTILE}:0"}
    values |= {"group": GROUP, "simple": SIMPLE, "missing": f"no{GROUP}", "transaction": TRANSACTION}
    words = [word.format(**values) for word in line.split()]
    if as_json:
        words += ["-o", "json"] if "{bootstrap}" in line or line.startswith(("users", "quotas", "promote")) else ["--json"]
    code = next((code for part, code in FAILING.items() if part in line), 0)
    run(*words, capsys=capsys, code=code)


def test_every_command_is_walked() -> None:
    assert {line.split()[0] for line in COMMAND_LINES} == set(COMMANDS)


def test_what_is_shown_can_be_recognised(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    """The text has the whole id with escapes, and JSON the id itself."""
    shown_text = run("replay", "--data-dir", str(server.data_dir), capsys=capsys)
    states = json.loads(run("replay", "--data-dir", str(server.data_dir), "--json", capsys=capsys))
    groups = {group["group"]: group for state in states for group in state["groups"]}

    assert "\\x1b[2J\\x1b]0;owned\\x07\\x0d\\x0aforged line\\x00\\x08\\x7f\\x9b31m\\x85\\u200e\\u202e\\u2028" in shown_text
    assert groups.keys() == {GROUP, SIMPLE}
    assert groups[SIMPLE]["offsets"][0]["metadata"] == HOSTILE
    assert groups[GROUP]["members"][0]["client_id"] == CLIENT


def test_no_answer_of_the_control_socket_has_a_control_code(server: Server) -> None:
    """Who asks by hand sees it on a terminal."""
    line = ask_control_raw(server.data_dir, op="digest", parts=True).decode()

    assert "forged line" in line
    assert is_clean(line), ascii(line)


def test_no_log_line_has_a_control_code(server: Server) -> None:
    """One line for each request, and none that a client made."""
    text = (server.data_dir.parent / "server.log").read_bytes().decode()

    assert "forged line" in text
    assert is_clean(text), ascii(text)
    assert not [each for each in text.split("\n") if each.startswith("forged")]
