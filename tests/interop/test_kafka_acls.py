"""Kafka's own tool for ACLs, against a server with an authorizer; run where ``--clients`` names java."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from coordinator_server.config.access import STANDARD_AUTHORIZER
from protocol.messages.describe_acls import DescribeAclsRequest, DescribeAclsResponse
from tests.interop.crew import ClientProcess
from tests.interop.programs import java_command
from tests.support.client import Client
from tests.support.server import Server

ACLS = "org.apache.kafka.tools.AclCommand"
PROPERTIES = {"authorizer.class.name": STANDARD_AUTHORIZER, "super.users": "User:ANONYMOUS"}

Tool = Callable[..., str]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with Server(tmp_path, PROPERTIES) as started:
        yield started


@pytest.fixture
def tool(server: Server) -> Iterator[Tool]:
    """Runs kafka-acls; what it printed. It has to end well."""
    process = ClientProcess(java_command("Tools"))

    def run(*words: str) -> str:
        host, port = server.address
        ended, printed = process.call(ACLS, ["--bootstrap-server", f"{host}:{port}", *words], within_s=120)
        assert ended == 0, printed
        text: str = printed
        return text

    yield run
    process.clean_up()


def test_kafka_acls(server: Server, tool: Tool) -> None:
    """--add with its conveniences, --list, and --remove of what a resource matches."""
    tool("--add", "--allow-principal", "User:alice", "--consumer", "--topic", "orders", "--group", "readers")
    tool(
        "--add",
        "--deny-principal",
        "User:bob",
        "--deny-host",
        "10.0.0.1",
        "--topic",
        "ord",
        "--resource-pattern-type",
        "prefixed",
    )
    with Client(server.address) as client:
        found = client.ask(DescribeAclsRequest(1, None, 1, None, None, 1, 1), 3, DescribeAclsResponse)
    listed = tool("--list", "--topic", "orders", "--resource-pattern-type", "match")
    tool("--remove", "--topic", "orders", "--resource-pattern-type", "match", "--force")
    left = tool("--list")

    entries = {
        (resource.resource_name, resource.pattern_type, acl.principal, acl.host, acl.operation, acl.permission_type)
        for resource in found.resources
        for acl in resource.acls
    }
    assert entries == {
        ("orders", 3, "User:alice", "*", 3, 3),
        ("orders", 3, "User:alice", "*", 8, 3),
        ("readers", 3, "User:alice", "*", 3, 3),
        ("ord", 4, "User:bob", "10.0.0.1", 2, 2),
    }
    assert "principal=User:alice, host=*, operation=READ, permissionType=ALLOW" in listed
    assert "principal=User:bob, host=10.0.0.1, operation=ALL, permissionType=DENY" in listed
    assert "name=readers" in left
    assert "orders" not in left
    assert "name=ord" not in left
