"""``coordinator-server acls`` about a running server, whose only super user is nobody in particular."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from coordinator_server.config.access import STANDARD_AUTHORIZER
from coordinator_server.testing import Coordinator
from tests.support.cluster_commands import Command

PROPERTIES = {"authorizer.class.name": STANDARD_AUTHORIZER, "super.users": "User:ANONYMOUS"}


@pytest.fixture(scope="module")
def server() -> Iterator[Coordinator]:
    with Coordinator(properties=PROPERTIES) as server:
        yield server


@pytest.fixture
def ask(server: Coordinator, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(server.bootstrap_servers, capsys)


def test_entries_from_their_creation_to_their_end(ask: Command) -> None:
    """Nothing changes without --execute."""
    added = ("acls", "add", "--user", "alice", "--operation", "read", "--topic", "orders", "--group", "readers")
    preview = ask(*added)
    before = ask("acls", "list", "--user", "alice")
    ask(*added, "--execute")
    ask("acls", "add", "--user", "alice", "--deny", "--topic", "ord", "--prefixed", "--host", "10.0.0.1", "--execute")
    listed = ask.rows("acls", "list", "--user", "alice")
    about = ask.rows("acls", "list", "--topic", "orders")
    kept = ask("acls", "remove", "--user", "alice", "--topic", "orders")
    removed = ask.rows("acls", "remove", "--user", "alice", "--topic", "orders", "--execute")
    rest = ask.rows("acls", "list", "--user", "alice")

    assert [line[-3:] for line in preview.lines[1:]] == [["would", "be", "added"]] * 2
    assert before.err == "coordinator-server: there are no ACLs\n"
    read = {"principal": "User:alice", "permission": "allow", "operation": "read", "host": "*"}
    deny = {"principal": "User:alice", "permission": "deny", "operation": "all", "host": "10.0.0.1"}
    orders = read | {"resource": "topic", "name": "orders", "pattern": "literal"}
    readers = read | {"resource": "group", "name": "readers", "pattern": "literal"}
    prefix = deny | {"resource": "topic", "name": "ord", "pattern": "prefixed"}
    assert sorted(map(str, listed)) == sorted(map(str, [orders, readers, prefix]))
    assert sorted(map(str, about)) == sorted(map(str, [orders, prefix]))
    assert kept.lines[1][-3:] == ["would", "be", "removed"]
    assert removed == [orders | {"outcome": "removed", "error": None}]
    assert sorted(map(str, rest)) == sorted(map(str, [readers, prefix]))


def test_a_refused_entry_has_the_reason(ask: Command) -> None:
    done = ask("acls", "add", "--principal", "User:alice", "--topic", "", "--cluster", "--execute", "-o", "json")

    assert done.code == 1
    assert [row["outcome"] for row in done.rows] == ["refused", "added"]
    assert "Invalid empty resource name" in done.rows[0]["error"]


def test_acls_add_without_a_resource_is_refused(ask: Command) -> None:
    done = ask("acls", "add", "--user", "alice", "--execute")

    assert (done.code, done.err) == (
        2,
        "coordinator-server: no resource is named: --topic, --group, --transactional-id or --cluster\n",
    )


def test_a_server_without_an_authorizer_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    with Coordinator() as server:
        done = Command(server.bootstrap_servers, capsys)("acls", "list")

    assert done.code == 1
    assert "No Authorizer is configured on the broker" in done.err
