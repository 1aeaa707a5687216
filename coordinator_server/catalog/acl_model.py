"""Access control entries as Kafka has them: who may do what with which resources,
and filters that select entries (KIP-140, KIP-290).
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from protocol.acl_codes import Operation, PatternType, Permission, ResourceType, code_of

ANY_RESOURCE: Final = "*"
"""The name of a LITERAL pattern that every resource of a type matches."""
ANY_HOST: Final = "*"
EVERYONE: Final = "User:*"

_ANY: Final = (ResourceType.ANY, PatternType.ANY, Operation.ANY, Permission.ANY)


class Pattern(NamedTuple):
    """The resources that an entry is about. The type of a pattern is LITERAL or PREFIXED."""

    resource_type: int
    name: str
    pattern_type: int


class Acl(NamedTuple):
    """An access control entry. ``principal`` has its type in front, such as ``User:alice``."""

    pattern: Pattern
    principal: str
    host: str
    operation: int
    permission: int

    @classmethod
    def of_record(cls, record: Any) -> Acl:
        """Return the entry of an AccessControlEntryRecord."""
        pattern = Pattern(record.resource_type, record.resource_name, record.pattern_type)
        return cls(pattern, record.principal, record.host, record.operation, record.permission_type)


class AclFilter(NamedTuple):
    """Selects entries (Kafka's ``AclBindingFilter``). None and ANY match everything.

    MATCH selects the patterns that a resource of the filter's name matches.
    """

    resource_type: int = ResourceType.ANY
    name: str | None = None
    pattern_type: int = PatternType.ANY
    principal: str | None = None
    host: str | None = None
    operation: int = Operation.ANY
    permission: int = Permission.ANY

    @property
    def problem(self) -> str | None:
        """Why no entry can be selected, or None."""
        if not (code_of(ResourceType, self.resource_type) and code_of(PatternType, self.pattern_type)):
            return "Unknown patternFilter."
        if not (code_of(Operation, self.operation) and code_of(Permission, self.permission)):
            return "Unknown entryFilter."
        return None

    @property
    def only(self) -> Acl | None:
        """The only entry that can be selected, if every field is given."""
        name, principal, host = self.name, self.principal, self.host
        if name is None or principal is None or host is None or self.pattern_type == PatternType.MATCH:
            return None
        kinds = (self.resource_type, self.pattern_type, self.operation, self.permission)
        if any(kind == each for kind, each in zip(kinds, _ANY, strict=True)):
            return None
        return Acl(Pattern(self.resource_type, name, self.pattern_type), principal, host, self.operation, self.permission)

    def matches(self, acl: Acl) -> bool:
        """Return whether an entry is selected."""
        return (
            self.principal in (None, acl.principal)
            and self.host in (None, acl.host)
            and self.operation in (Operation.ANY, acl.operation)
            and self.permission in (Permission.ANY, acl.permission)
            and self._matches_pattern(acl.pattern)
        )

    def _matches_pattern(self, pattern: Pattern) -> bool:
        if self.resource_type not in (ResourceType.ANY, pattern.resource_type):
            return False
        if self.pattern_type not in (PatternType.ANY, PatternType.MATCH, pattern.pattern_type):
            return False
        if self.name is None:
            return True
        return _is_matched(self.name, pattern) if self.pattern_type == PatternType.MATCH else self.name == pattern.name


def _is_matched(name: str, pattern: Pattern) -> bool:
    """Return whether a resource of this name matches a pattern."""
    if pattern.pattern_type == PatternType.LITERAL:
        return pattern.name in (name, ANY_RESOURCE)
    return name.startswith(pattern.name)
