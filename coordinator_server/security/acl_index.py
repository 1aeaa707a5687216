"""The access control entries by the resources that they are about.

The entries for a resource are those of its name, those of every prefix of its name, and those for all resources of its type.
There are few different lengths of prefixes, so each is one look-up, however many entries there are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple, TypeAlias

from coordinator_server.catalog.acl_model import ANY_HOST, ANY_RESOURCE, EVERYONE, Acl
from coordinator_server.security.addresses import comparable_address
from protocol.acl_codes import Operation, PatternType, Permission

ALLOWED_BY: Final[Mapping[int, frozenset[int]]] = {
    **{operation: frozenset((operation, Operation.ALL)) for operation in Operation if operation > Operation.ALL},
    Operation.DESCRIBE: frozenset(
        (Operation.ALL, Operation.DESCRIBE, Operation.READ, Operation.WRITE, Operation.DELETE, Operation.ALTER)
    ),
    Operation.DESCRIBE_CONFIGS: frozenset((Operation.ALL, Operation.DESCRIBE_CONFIGS, Operation.ALTER_CONFIGS)),
}
"""The operations whose ALLOW entries allow an operation. A DENY entry denies its own operation only, or ALL."""


class Caller(NamedTuple):
    """A principal and its address, in the form of ``comparable_address``."""

    principal: str
    host: str


class _Entry(NamedTuple):
    """What an entry says about a principal and a resource."""

    host: str
    operation: int
    is_denial: bool


_OfPattern: TypeAlias = dict[str, tuple[_Entry, ...]]
"""The entries of one pattern, by principal."""


class AclIndex:
    """The entries by pattern.

    One thread changes it; others may read at the same time, because entries are replaced, never changed.
    """

    def __init__(self) -> None:
        self._patterns: dict[tuple[int, int, str], _OfPattern] = {}
        # The lengths of prefixes by resource type: how many patterns have each, and in descending order.
        self._counts: dict[int, Counter[int]] = {}
        self._lengths: dict[int, tuple[int, ...]] = {}

    def add(self, acl: Acl) -> None:
        """Add an entry. Equal ones count separately."""
        key = _key(acl)
        of_pattern = self._patterns.get(key)
        if of_pattern is None:
            of_pattern = self._patterns[key] = {}
            self._count_prefix(acl, 1)
        of_pattern[acl.principal] = (*of_pattern.get(acl.principal, ()), _entry(acl))

    def remove(self, acl: Acl) -> None:
        """Remove an entry that was added."""
        key = _key(acl)
        of_pattern = self._patterns[key]
        entries = list(of_pattern[acl.principal])
        entries.remove(_entry(acl))
        if entries:
            of_pattern[acl.principal] = tuple(entries)
            return
        del of_pattern[acl.principal]
        if not of_pattern:
            del self._patterns[key]
            self._count_prefix(acl, -1)

    def _count_prefix(self, acl: Acl, change: int) -> None:
        if acl.pattern.pattern_type == PatternType.PREFIXED:
            kind = acl.pattern.resource_type
            counts = self._counts.setdefault(kind, Counter())
            counts[len(acl.pattern.name)] += change
            self._lengths[kind] = tuple(sorted((+counts), reverse=True))

    def verdict(self, caller: Caller, operation: int, resource_type: int, name: str) -> bool | None:
        """Return whether a caller may do something with a resource; None if no entry of anybody is about that resource."""
        allowing = ALLOWED_BY[operation]
        is_allowed: bool | None = None
        for of_pattern in self._about(resource_type, name):
            is_allowed = bool(is_allowed)
            for host, entry_operation, is_denial in _of_caller(of_pattern, caller):
                if host not in (ANY_HOST, caller.host):
                    continue
                if is_denial:
                    if entry_operation in (Operation.ALL, operation):
                        return False
                elif entry_operation in allowing:
                    is_allowed = True
        return is_allowed

    def _about(self, resource_type: int, name: str) -> Iterator[_OfPattern]:
        """Yield the entries of each pattern that a resource matches."""
        patterns = self._patterns
        found = patterns.get((resource_type, PatternType.LITERAL, name))
        if found:
            yield found
        for length in self._lengths.get(resource_type, ()):
            if length <= len(name):
                found = patterns.get((resource_type, PatternType.PREFIXED, name[:length]))
                if found:
                    yield found
        if name != ANY_RESOURCE:
            found = patterns.get((resource_type, PatternType.LITERAL, ANY_RESOURCE))
            if found:
                yield found

    def allows_any(self, caller: Caller, operation: int, resource_type: int) -> bool:
        """Return whether a caller may do something with at least one resource of a type, whether it exists or not.

        As ``Authorizer.authorizeByResourceType`` in Kafka: an operation that is only implied by another does not count.
        """
        allowed: list[tuple[int, str]] = []
        denied: set[tuple[int, str]] = set()
        for (kind, pattern_type, name), of_pattern in self._patterns.items():
            if kind != resource_type:
                continue
            for host, entry_operation, is_denial in _of_caller(of_pattern, caller):
                if host in (ANY_HOST, caller.host) and entry_operation in (Operation.ALL, operation):
                    if is_denial:
                        denied.add((pattern_type, name))
                    else:
                        allowed.append((pattern_type, name))
        everything = (PatternType.LITERAL, ANY_RESOURCE)
        if everything in denied:
            return False
        return everything in allowed or any(not _is_dominated(pattern, denied) for pattern in allowed)


def _is_dominated(pattern: tuple[int, str], denied: set[tuple[int, str]]) -> bool:
    """Return whether all that a pattern allows is denied."""
    pattern_type, name = pattern
    if pattern_type == PatternType.LITERAL and pattern in denied:
        return True
    return any((PatternType.PREFIXED, name[:length]) in denied for length in range(1, len(name) + 1))


def _of_caller(of_pattern: _OfPattern, caller: Caller) -> Iterable[_Entry]:
    of_all = of_pattern.get(EVERYONE, ())
    if caller.principal == EVERYONE:
        return of_all
    return (*of_pattern.get(caller.principal, ()), *of_all)


def _key(acl: Acl) -> tuple[int, int, str]:
    pattern = acl.pattern
    return pattern.resource_type, pattern.pattern_type, pattern.name


def _entry(acl: Acl) -> _Entry:
    return _Entry(comparable_address(acl.host), acl.operation, acl.permission != Permission.ALLOW)
