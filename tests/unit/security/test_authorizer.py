"""The authorizer decides as Kafka's ``StandardAuthorizer``."""

from __future__ import annotations

import random

import pytest

from coordinator_server.catalog.acl_model import Acl, Pattern
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.security import authorizer as module
from coordinator_server.security.acl_index import Caller
from coordinator_server.security.addresses import comparable_address
from coordinator_server.security.authorizer import Authorizer
from protocol.acl_codes import Operation, PatternType, Permission, ResourceType
from protocol.error_codes import ErrorCode

TOPIC, GROUP, CLUSTER = ResourceType.TOPIC, ResourceType.GROUP, ResourceType.CLUSTER
READ, WRITE, DESCRIBE, ALL = Operation.READ, Operation.WRITE, Operation.DESCRIBE, Operation.ALL
ALLOW, DENY = Permission.ALLOW, Permission.DENY
LITERAL, PREFIXED = PatternType.LITERAL, PatternType.PREFIXED


def acl(
    permission: int,
    operation: int,
    name: str,
    pattern_type: int = LITERAL,
    *,
    principal: str = "User:alice",
    host: str = "*",
    kind: int = TOPIC,
) -> Acl:
    return Acl(Pattern(kind, name, pattern_type), principal, host, operation, permission)


def same(entry: Acl) -> Acl:
    return entry


def loaded(*acls: Acl, super_users: tuple[str, ...] = (), allows_unlisted: bool = False) -> Authorizer:
    found = Authorizer(super_users, allows_unlisted=allows_unlisted)
    found.load(dict(enumerate(acls)), same)
    return found


def allows(authorizer: Authorizer, operation: int, name: str, *, principal: str = "User:alice", host: str = "10.0.0.1") -> bool:
    return authorizer.access(principal, host).allows(operation, TOPIC, name)


@pytest.mark.parametrize(
    ("acls", "operation", "is_allowed"),
    [
        ([acl(ALLOW, READ, "orders")], READ, True),
        ([acl(ALLOW, READ, "orders")], WRITE, False),
        ([acl(ALLOW, READ, "order")], READ, False),
        ([acl(ALLOW, READ, "ord", PREFIXED)], READ, True),
        ([acl(ALLOW, READ, "orders", PREFIXED)], READ, True),
        ([acl(ALLOW, READ, "orders-of", PREFIXED)], READ, False),
        ([acl(ALLOW, READ, "*")], READ, True),
        ([acl(ALLOW, READ, "*", PREFIXED)], READ, False),
        ([acl(ALLOW, ALL, "orders")], READ, True),
        ([acl(ALLOW, READ, "orders", kind=GROUP)], READ, False),
        ([acl(ALLOW, READ, "orders", principal="User:bob")], READ, False),
        ([acl(ALLOW, READ, "orders", principal="User:*")], READ, True),
        ([acl(ALLOW, READ, "orders", host="10.0.0.1")], READ, True),
        ([acl(ALLOW, READ, "orders", host="10.0.0.2")], READ, False),
        # What is allowed implies that it may be seen; what is denied does not.
        *[
            ([acl(ALLOW, operation, "orders")], DESCRIBE, True)
            for operation in (READ, WRITE, Operation.DELETE, Operation.ALTER, DESCRIBE, ALL)
        ],
        *[
            ([acl(ALLOW, operation, "orders")], DESCRIBE, False)
            for operation in (Operation.CREATE, Operation.DESCRIBE_CONFIGS, Operation.ALTER_CONFIGS)
        ],
        ([acl(ALLOW, Operation.ALTER_CONFIGS, "orders")], Operation.DESCRIBE_CONFIGS, True),
        ([acl(ALLOW, DESCRIBE, "orders"), acl(DENY, READ, "orders")], DESCRIBE, True),
        # Any denial wins.
        ([acl(ALLOW, READ, "orders"), acl(DENY, READ, "ord", PREFIXED)], READ, False),
        ([acl(ALLOW, READ, "orders"), acl(DENY, ALL, "*")], READ, False),
        ([acl(ALLOW, ALL, "orders"), acl(DENY, READ, "orders", principal="User:*")], READ, False),
        ([acl(ALLOW, READ, "orders"), acl(DENY, READ, "orders", host="10.0.0.2")], READ, True),
        ([acl(ALLOW, READ, "orders"), acl(DENY, WRITE, "orders")], READ, True),
        ([], READ, False),
    ],
)
def test_an_operation_is_decided_by_the_entries_for_its_resource(acls: list[Acl], operation: int, is_allowed: bool) -> None:
    assert allows(loaded(*acls), operation, "orders") is is_allowed


def test_a_super_user_may_do_everything() -> None:
    authorizer = loaded(acl(DENY, ALL, "*", principal="User:*"), super_users=("User:admin",))

    assert allows(authorizer, WRITE, "orders", principal="User:admin")
    assert not allows(authorizer, WRITE, "orders")


def test_a_resource_without_any_entry_is_open_if_configured() -> None:
    """An entry of somebody else is one: it closes the resource (``allow.everyone.if.no.acl.found``)."""
    authorizer = loaded(acl(ALLOW, READ, "orders", principal="User:bob"), allows_unlisted=True)

    assert allows(authorizer, WRITE, "others")
    assert not allows(authorizer, READ, "orders")


def test_before_the_entries_are_known_only_super_users_are_let_through() -> None:
    authorizer = Authorizer(("User:admin",), allows_unlisted=True)

    assert authorizer.access("User:admin", "10.0.0.1").allows(READ, TOPIC, "orders")
    with pytest.raises(CoordinatorError) as refused:
        authorizer.access("User:alice", "10.0.0.1")
    assert refused.value.error == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS


def test_what_is_remembered_ends_with_a_change() -> None:
    """Also what a caller keeps: it is of the entries when it was asked for, and is not asked again."""
    authorizer = loaded(acl(ALLOW, READ, "orders"))
    assert allows(authorizer, READ, "orders")
    version = authorizer.version

    authorizer.load({}, same)

    assert authorizer.version != version
    assert not allows(authorizer, READ, "orders")


def test_equal_entries_are_removed_one_by_one() -> None:
    """A log may have two: only the removal of the last one ends what they allow."""
    authorizer = loaded(acl(ALLOW, READ, "ord", PREFIXED), acl(ALLOW, READ, "ord", PREFIXED))

    authorizer.load({1: acl(ALLOW, READ, "ord", PREFIXED)}, same)
    assert allows(authorizer, READ, "orders")

    authorizer.load({}, same)
    assert not allows(authorizer, READ, "orders")


@pytest.mark.parametrize(
    ("given", "key"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("::1", "::1"),
        ("0:0:0:0:0:0:0:1", "::1"),
        ("::ffff:10.0.0.1", "10.0.0.1"),
        ("FE80::1%eth0", "fe80::1%eth0"),
        ("*", "*"),
        ("a.host", "a.host"),
    ],
)
def test_addresses_are_compared_whatever_their_form(given: str, key: str) -> None:
    """Kafka's entries have Java's form of IPv6 addresses, sockets have the short one."""
    assert comparable_address(given) == key


@pytest.mark.parametrize(
    ("acls", "is_allowed"),
    [
        ([], False),
        ([acl(ALLOW, WRITE, "orders")], True),
        ([acl(ALLOW, ALL, "orders", PREFIXED)], True),
        ([acl(ALLOW, WRITE, "*")], True),
        ([acl(ALLOW, READ, "orders")], False),
        ([acl(ALLOW, WRITE, "orders", principal="User:bob")], False),
        ([acl(ALLOW, WRITE, "orders", host="10.0.0.2")], False),
        ([acl(ALLOW, WRITE, "orders", kind=GROUP)], False),
        ([acl(ALLOW, WRITE, "orders"), acl(DENY, WRITE, "orders")], False),
        ([acl(ALLOW, WRITE, "orders"), acl(DENY, WRITE, "ord", PREFIXED)], False),
        ([acl(ALLOW, WRITE, "orders", PREFIXED), acl(DENY, WRITE, "orders")], True),
        ([acl(ALLOW, WRITE, "orders"), acl(DENY, ALL, "*", principal="User:*")], False),
        ([acl(ALLOW, WRITE, "*"), acl(DENY, WRITE, "o", PREFIXED)], True),
    ],
)
def test_any_resource_of_a_type(acls: list[Acl], is_allowed: bool) -> None:
    """There is one name that is allowed and not denied (``Authorizer.authorizeByResourceType``)."""
    assert loaded(*acls).access("User:alice", "10.0.0.1").allows_any(WRITE, TOPIC) is is_allowed


def test_the_operations_of_a_resource_are_a_bit_field() -> None:
    access = loaded(acl(ALLOW, READ, "orders")).access("User:alice", "10.0.0.1")

    assert access.allowed_bits((READ, WRITE, DESCRIBE), TOPIC, "orders") == 1 << READ | 1 << DESCRIBE


def test_a_verdict_is_decided_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Until the entries change: every commit asks for its topics."""
    authorizer = loaded(acl(ALLOW, READ, "orders"))
    decided: list[str] = []
    decide = Authorizer.decide

    def noted(self: Authorizer, caller: Caller, operation: int, resource_type: int, name: str) -> bool:
        decided.append(name)
        return decide(self, caller, operation, resource_type, name)

    monkeypatch.setattr(Authorizer, "decide", noted)
    for _ in range(3):
        assert allows(authorizer, READ, "orders")
        assert not allows(authorizer, READ, "others")

    assert decided == ["orders", "others"]


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """By number and by the length of names, which peers choose. The answers stay right."""
    monkeypatch.setattr(module, "MOST_REMEMBERED", 8)
    monkeypatch.setattr(module, "MOST_CALLERS", 4)
    authorizer = loaded(acl(ALLOW, READ, "orders"))

    long_name = "n" * (module.LONGEST_REMEMBERED + 1)
    verdicts = authorizer.access("User:alice", "10.0.0.1").verdicts(READ, TOPIC)
    assert not verdicts[long_name]
    assert long_name not in verdicts
    for number in range(30):
        assert not allows(authorizer, READ, f"other-{number}")
        assert allows(authorizer, READ, "orders", host=f"10.0.0.{number}")
    assert len(authorizer.access("User:alice", "10.0.0.1").verdicts(READ, TOPIC)) <= 8


def _expected(acls: list[Acl], principal: str, host: str, operation: int, name: str) -> bool:
    """Decide by Kafka's rules, entry by entry."""
    implied = {DESCRIBE: {DESCRIBE, READ, WRITE, Operation.DELETE, Operation.ALTER}}.get(Operation(operation), {operation})
    is_allowed = False
    for each in acls:
        pattern = each.pattern
        is_about = pattern.name in (name, "*") if pattern.pattern_type == LITERAL else name.startswith(pattern.name)
        if not is_about or each.principal not in (principal, "User:*") or each.host not in ("*", host):
            continue
        if each.permission == DENY:
            if each.operation in (ALL, operation):
                return False
        elif each.operation == ALL or each.operation in implied:
            is_allowed = True
    return is_allowed


def test_random_entries_are_decided_as_if_one_looked_at_each() -> None:
    """While entries come and go."""
    draw = random.Random(2)
    acls: dict[object, Acl] = {}
    authorizer = Authorizer()
    names = ["a", "ab", "abc", "b", "ba", "*"]
    for turn in range(400):
        if acls and draw.random() < 0.4:
            del acls[draw.choice(list(acls))]
        else:
            acls[turn] = acl(
                draw.choice((ALLOW, ALLOW, DENY)),
                draw.choice((READ, WRITE, DESCRIBE, ALL)),
                draw.choice(names),
                draw.choice((LITERAL, PREFIXED)),
                principal=draw.choice(("User:alice", "User:bob", "User:*")),
                host=draw.choice(("*", "10.0.0.1", "10.0.0.2")),
            )
        authorizer.load(acls, same)
        for _ in range(10):
            asked = draw.choice(("User:alice", "User:bob")), draw.choice(("10.0.0.1", "10.0.0.2"))
            operation, name = draw.choice((READ, WRITE, DESCRIBE)), draw.choice(names)
            found = authorizer.access(*asked).allows(operation, TOPIC, name)
            assert found == _expected(list(acls.values()), *asked, operation, name)
