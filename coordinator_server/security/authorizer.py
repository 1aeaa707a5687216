"""The authorizer: which operations a principal may do, by the access control entries of the catalog
(Kafka's ``StandardAuthorizer``).

    super.users            may do everything
    a DENY entry matches   denied
    an ALLOW entry matches allowed
    entries of others only denied
    no entry at all        ``allow.everyone.if.no.acl.found``

Answers are remembered by caller, operation and name, until an entry changes. So a check is a look-up in a dict.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from typing import Final, TypeAlias, TypeVar

from coordinator_server.catalog.acl_model import Acl
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.shard import RequestContext
from coordinator_server.security.acl_index import AclIndex, Caller
from coordinator_server.security.addresses import comparable_address
from protocol.acl_codes import CLUSTER_NAME, Operation, ResourceType
from protocol.error_codes import ErrorCode

T = TypeVar("T")

MOST_REMEMBERED: Final = 1 << 17
"""The maximum number of cached answers, of all callers: about 30 MiB if all names have the maximum length."""
LONGEST_REMEMBERED: Final = 256
"""The maximum length of a name in a cached answer."""
MOST_CALLERS: Final = 1 << 14

_OPERATIONS: Final = 1 + max(Operation)

ERRORS: Final = {
    ResourceType.TOPIC: ErrorCode.TOPIC_AUTHORIZATION_FAILED,
    ResourceType.GROUP: ErrorCode.GROUP_AUTHORIZATION_FAILED,
    ResourceType.CLUSTER: ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
    ResourceType.TRANSACTIONAL_ID: ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
}
"""The error of a denial (``AclEntry.authorizationError``)."""


Report: TypeAlias = Callable[[RequestContext, Operation, ResourceType, Sequence[str]], None]
"""Reports a denial: the request, the operation, the type of the resources and their names."""


def report_nothing(context: RequestContext, operation: Operation, resource_type: ResourceType, names: Sequence[str]) -> None:
    """Do nothing."""


class Verdicts(dict[str, bool]):
    """Whether a caller may do one operation with resources of one type, by name: ``verdicts[name]``."""

    __slots__ = ("_authorizer", "_caller", "_operation", "_resource_type")

    def __init__(self, authorizer: Authorizer, caller: Caller, operation: int, resource_type: int) -> None:
        super().__init__()
        self._authorizer = authorizer
        self._caller = caller
        self._operation = operation
        self._resource_type = resource_type

    def __missing__(self, name: str) -> bool:
        is_allowed = self._authorizer.decide(self._caller, self._operation, self._resource_type, name)
        if len(name) <= LONGEST_REMEMBERED and self._authorizer.may_remember():
            self[name] = is_allowed
        return is_allowed


class Access:
    """What one principal may do from one address, by the ACLs at its creation. Thread-safe."""

    __slots__ = ("_any", "_authorizer", "_caller", "_verdicts")

    def __init__(self, authorizer: Authorizer, caller: Caller) -> None:
        self._authorizer = authorizer
        self._caller = caller
        self._verdicts: dict[int, Verdicts] = {}
        self._any: dict[tuple[int, int], bool] = {}

    def verdicts(self, operation: int, resource_type: int) -> Verdicts:
        """Return the answers for one operation and all resources of a type."""
        slot = resource_type * _OPERATIONS + operation
        found = self._verdicts.get(slot)
        if found is None:
            found = self._verdicts[slot] = Verdicts(self._authorizer, self._caller, operation, resource_type)
        return found

    def allows(self, operation: int, resource_type: int, name: str = CLUSTER_NAME) -> bool:
        """Return whether an operation is allowed."""
        return self.verdicts(operation, resource_type)[name]

    def allows_any(self, operation: int, resource_type: int) -> bool:
        """Return whether an operation is allowed with at least one resource of a type, whether it exists or not."""
        found = self._any.get((operation, resource_type))
        if found is None:
            found = self._any[operation, resource_type] = self._authorizer.decide_any(self._caller, operation, resource_type)
        return found

    def allowed_bits(self, operations: Iterable[int], resource_type: int, name: str = CLUSTER_NAME) -> int:
        """Return which of the operations are allowed, as a bit field with the codes of the operations."""
        return sum([1 << operation for operation in operations if self.verdicts(operation, resource_type)[name]])


class Authorizer:
    """The entries that hold, and what follows from them. ``version`` changes with them."""

    def __init__(self, super_users: Collection[str] = (), *, allows_unlisted: bool = False) -> None:
        self._super_users = frozenset(super_users)
        self._allows_unlisted = allows_unlisted
        self._index = AclIndex()
        self._acls: dict[Hashable, Acl] = {}
        self._is_loaded = False
        self._accesses: dict[tuple[str, str], Access] = {}
        self._remembered = 0
        self.version = 0
        # Is called for every denial of something that a request names. What lists leave out is not reported, as in Kafka.
        self.report: Report = report_nothing

    @property
    def is_loaded(self) -> bool:
        """Whether the entries are known. Before, only super users are let through."""
        return self._is_loaded

    def load(self, records: Mapping[Hashable, T], acl_of: Callable[[T], Acl]) -> None:
        """Take over the entries that hold, by id. An entry of an id never changes, so ``acl_of`` is called for new ones alone."""
        acls = self._acls
        for acl_id in acls.keys() - records.keys():
            self._index.remove(acls.pop(acl_id))
        for acl_id in records.keys() - acls.keys():
            acls[acl_id] = acl = acl_of(records[acl_id])
            self._index.add(acl)
        self._is_loaded = True
        self.version += 1
        self._forget()

    def access(self, principal: str, host: str) -> Access:
        """Return what a principal may do from an address.

        Raises CoordinatorError while the entries are not known, unless the principal is a super user.
        """
        access = self._accesses.get((principal, host))
        if access is None:
            if not self._is_loaded and principal not in self._super_users:
                raise CoordinatorError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, "the ACLs are not known here yet")
            if len(self._accesses) >= MOST_CALLERS:
                self._forget()
            access = self._accesses[principal, host] = Access(self, Caller(principal, comparable_address(host)))
        return access

    def describable(self, context: RequestContext, topics: Iterable[str]) -> list[str]:
        """Return those of the topics that the sender of a request may describe: a regular expression matches no others.

        None at all while the entries are not known: the expression is resolved again.
        """
        try:
            verdicts = self.access(context.principal, context.client_host).verdicts(Operation.DESCRIBE, ResourceType.TOPIC)
        except CoordinatorError:
            return []
        return [name for name in topics if verdicts[name]]

    @property
    def acls(self) -> Collection[Acl]:
        """The entries that hold."""
        return self._acls.values()

    # For Access.

    def decide(self, caller: Caller, operation: int, resource_type: int, name: str) -> bool:
        """Return whether an operation is allowed."""
        if caller.principal in self._super_users:
            return True
        verdict = self._index.verdict(caller, operation, resource_type, name)
        return self._allows_unlisted if verdict is None else verdict

    def decide_any(self, caller: Caller, operation: int, resource_type: int) -> bool:
        """Return whether an operation is allowed with at least one resource of a type."""
        # A name that hardly has an entry of its own: it shows who may do everything.
        if self.decide(caller, operation, resource_type, "hardcode"):
            return True
        return self._index.allows_any(caller, operation, resource_type)

    def may_remember(self) -> bool:
        """Count an answer, and return whether it is to be remembered. When there are too many, all are forgotten."""
        self._remembered += 1
        if self._remembered > MOST_REMEMBERED:
            self._forget()
            return False
        return True

    def _forget(self) -> None:
        # Not cleared: a thread that still asks an old object must not leave an old answer in a new one.
        self._accesses = {}
        self._remembered = 0
