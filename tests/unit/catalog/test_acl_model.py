"""Filters of access control entries select what Kafka's do (``AclBindingFilter.matches``)."""

from __future__ import annotations

import pytest

from coordinator_server.catalog.acl_model import Acl, AclFilter, Pattern
from protocol.acl_codes import Operation, PatternType, Permission, ResourceType

TOPIC, GROUP = ResourceType.TOPIC, ResourceType.GROUP
ANY, MATCH, LITERAL, PREFIXED = PatternType.ANY, PatternType.MATCH, PatternType.LITERAL, PatternType.PREFIXED


def acl(name: str, pattern_type: int = LITERAL, kind: int = TOPIC) -> Acl:
    return Acl(Pattern(kind, name, pattern_type), "User:alice", "*", Operation.READ, Permission.ALLOW)


ALL = [acl("orders"), acl("ord", PREFIXED), acl("*"), acl("orders", PREFIXED), acl("others"), acl("orders", kind=GROUP)]


@pytest.mark.parametrize(
    ("selecting", "selected"),
    [
        (AclFilter(), ALL),
        (AclFilter(GROUP), [ALL[5]]),
        (AclFilter(TOPIC, "orders"), [ALL[0], ALL[3]]),
        (AclFilter(TOPIC, "orders", LITERAL), [ALL[0]]),
        (AclFilter(TOPIC, "orders", PREFIXED), [ALL[3]]),
        (AclFilter(TOPIC, "orders", MATCH), [ALL[0], ALL[1], ALL[2], ALL[3]]),
        (AclFilter(TOPIC, "order", MATCH), [ALL[1], ALL[2]]),
        (AclFilter(TOPIC, None, PREFIXED), [ALL[1], ALL[3]]),
        (AclFilter(TOPIC, "*"), [ALL[2]]),
        (AclFilter(principal="User:alice", host="*", operation=Operation.READ, permission=Permission.ALLOW), ALL),
        (AclFilter(principal="User:bob"), []),
        (AclFilter(host="10.0.0.1"), []),
        (AclFilter(operation=Operation.ALL), []),
        (AclFilter(permission=Permission.DENY), []),
    ],
)
def test_a_filter_selects(selecting: AclFilter, selected: list[Acl]) -> None:
    """MATCH finds the patterns that a resource matches; all other fields are compared."""
    assert [each for each in ALL if selecting.matches(each)] == selected


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        (AclFilter(resource_type=0), "Unknown patternFilter."),
        (AclFilter(resource_type=99), "Unknown patternFilter."),
        (AclFilter(pattern_type=7), "Unknown patternFilter."),
        (AclFilter(operation=77), "Unknown entryFilter."),
        (AclFilter(permission=0), "Unknown entryFilter."),
    ],
)
def test_a_filter_with_an_unknown_code_has_a_problem(wrong: AclFilter, problem: str) -> None:
    assert wrong.problem == problem
    assert AclFilter().problem is None
