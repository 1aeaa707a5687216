"""A coordinator for tests: a real server on a free port, in milliseconds, whose time and faults the test controls.

``plugin.py`` has the fixtures of pytest. docs/testing.md explains all of it.
"""

from coordinator_server.testing.coordinator import Coordinator, Group, Member, TopicPartition
from coordinator_server.testing.errors import FixtureError, ServerEnded

__all__ = ["Coordinator", "FixtureError", "Group", "Member", "ServerEnded", "TopicPartition"]
