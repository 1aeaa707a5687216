"""A store of two shards, and a node that has both."""

from __future__ import annotations

import pytest

from coordinator_server.log.shards import ShardId
from tests.support.member_node import Node
from tests.support.shared_members import Rows
from tests.support.shared_store import Database


@pytest.fixture
def database() -> Database:
    database = Database()
    database.membership = Rows([ShardId("a", 0), ShardId("a", 1)])
    database.replicate()
    return database


@pytest.fixture
def node(database: Database) -> Node:
    """A node that has both shards."""
    node = Node(1, database)
    node.tick()
    node.tick()
    node.tick()
    return node
