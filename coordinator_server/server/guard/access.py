"""What a request needs: the column ``access`` of the API table, which counts where an authorizer is configured.

``needs`` are checked first, in their order, and refuse the whole request. ``parts`` look at the elements of the request and of the
answer: a handler gets a request without what is denied, and the answer is completed, or filtered, when it is encoded
(``Exchange.amend``). Handlers do not know about it, and a server without an authorizer skips it.
What is denied is reported once, by ``Asked.report``.

A request of many elements is checked in steps, and an answer with many is encoded, and so filtered, beside the loop.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final, Generic, NamedTuple, Protocol, TypeVar

from msgspec import Struct

from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.shard import RequestContext
from coordinator_server.runtime.repeat import Repeat
from coordinator_server.security.authorizer import ERRORS, Access, Authorizer, Report, Verdicts
from coordinator_server.server.exchange.api_row import Denial, DenyUnread, Unread
from coordinator_server.server.exchange.exchange import Exchange, Handle
from coordinator_server.server.exchange.steps import Work, at_once
from coordinator_server.server.hosting.node import Node
from coordinator_server.server.wire.order import Order
from protocol.acl_codes import CLUSTER_NAME, Operation, ResourceType
from protocol.error_codes import ErrorCode

Q = TypeVar("Q")

_READ_ONLY: Final = (Order.FREE, Order.READ)

MESSAGES: Final = {
    ErrorCode.TOPIC_AUTHORIZATION_FAILED: "Topic authorization failed.",
    ErrorCode.GROUP_AUTHORIZATION_FAILED: "Group authorization failed.",
    ErrorCode.CLUSTER_AUTHORIZATION_FAILED: "Cluster authorization failed.",
    ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED: "Transactional Id authorization failed.",
}
"""Kafka's messages, for answers that have one."""


class Asked(NamedTuple):
    """A request on its way to its handler: who sent it, and what they may do."""

    node: Node
    context: RequestContext
    access: Access
    report: Report

    @classmethod
    def of(cls, node: Node, context: RequestContext, authorizer: Authorizer) -> Asked:
        """Return a request of a server with an authorizer. Raises CoordinatorError while its entries are not known."""
        return cls(node, context, authorizer.access(context.principal, context.client_host), authorizer.report)

    def allows(self, operation: Operation, resource_type: ResourceType, name: str = CLUSTER_NAME) -> bool:
        """Return whether an operation is allowed. Report a denial."""
        if self.access.allows(operation, resource_type, name):
            return True
        self.report(self.context, operation, resource_type, (name,))
        return False

    def topic_name(self, topic_id: bytes) -> str | None:
        """Return the name of the topic with an id, or None."""
        topic = self.node.image.topic_by_id(topic_id)
        return topic.name if topic is not None else None


class Need(NamedTuple):
    """An operation on the resources that ``name_of`` finds: in a request, or in an element of one.

    None: there is no such resource.
    """

    operation: Operation
    resource_type: ResourceType
    name_of: Callable[[Any], str | None]

    @property
    def error(self) -> ErrorCode:
        """The error of a denial."""
        return ERRORS[self.resource_type]

    def is_met(self, asked: Asked, request: Any) -> bool:
        """Return whether an operation is allowed. Report a denial."""
        name = self.name_of(request)
        return name is None or asked.allows(self.operation, self.resource_type, name)


class Parts(Protocol):
    """What is checked besides the needs of a request."""

    def allows_all(self, asked: Asked, request: Any, /) -> bool:
        """Return whether the request goes on as it is, and its answer is not changed. False: ``divide`` decides."""

    def divide(self, asked: Asked, request: Any, reply: Exchange[Any], /) -> Work[Any]:
        """Return the request that the handler gets, in steps; or answer, and return None."""


class ApiAccess(Struct, Generic[Q], frozen=True):
    """What the requests of an API need."""

    needs: tuple[Need, ...] = ()
    parts: Parts | None = None
    in_handler: tuple[tuple[Operation, ResourceType], ...] = ()
    """What the handler checks itself, in its own order: the rest of the request has to be valid first."""
    has_message: bool = True
    """Whether the refusal of a need says why."""

    def guarded(self, handle: Handle, node: Node, /) -> Handle:
        """Return a handler that runs ``handle`` for what is allowed. The node has an authorizer."""
        assert node.authorizer is not None
        return _guarded(self, handle, node, node.authorizer)

    def denying_unread(self, unread: Unread[Any], node: Node, /) -> DenyUnread:
        """Return what denies large requests before they are decoded. The node has an authorizer."""
        assert node.authorizer is not None
        return partial(_deny_unread, self, unread, node.authorizer)

    def unmet(self, authorizer: Authorizer, context: RequestContext, request: Any) -> tuple[Need, str] | None:
        """Return the first need that is not met, and of what, without a report.

        None: all are met, or the entries are not known yet.
        """
        try:
            access = authorizer.access(context.principal, context.client_host)
        except CoordinatorError:
            return None
        for need in self.needs:
            name = need.name_of(request)
            if name is not None and not access.allows(need.operation, need.resource_type, name):
                return need, name
        return None


OPEN: Final[ApiAccess[Any]] = ApiAccess()
"""Of an API that everybody may use."""


def cluster(operation: Operation) -> ApiAccess[Any]:
    """Return the access of an API that needs an operation on the cluster."""
    return ApiAccess((on_cluster(operation),))


def on_cluster(operation: Operation) -> Need:
    """Return the need of an operation on the cluster."""
    return Need(operation, ResourceType.CLUSTER, lambda _: CLUSTER_NAME)


# For handlers that check by themselves


def denial(node: Node, context: RequestContext, operation: Operation, resource_type: ResourceType, name: str) -> ErrorCode | None:
    """Return the error of a denied operation, which is reported, or None."""
    if node.authorizer is None or Asked.of(node, context, node.authorizer).allows(operation, resource_type, name):
        return None
    return ERRORS[resource_type]


def verdicts_for(node: Node, context: RequestContext, operation: Operation, resource_type: ResourceType) -> Verdicts | None:
    """Return what the sender of a request may do, by the names of resources; None if that is everything."""
    if node.authorizer is None:
        return None
    return node.authorizer.access(context.principal, context.client_host).verdicts(operation, resource_type)


# The handlers of a server with an authorizer


def _guarded(access: ApiAccess[Any], handle: Handle, node: Node, authorizer: Authorizer) -> Handle:
    needs, parts = access.needs, access.parts
    if not needs and parts is None:
        return handle

    # Plain numbers, in place of attributes and enums: this is on the path of every request.
    checks = [(need, int(need.operation), int(need.resource_type), need.name_of) for need in needs]

    def run(context: RequestContext, request: Any, reply: Exchange[Any]) -> Repeat | None:
        allowed = authorizer.access(context.principal, context.client_host)
        for need, operation, resource_type, name_of in checks:
            name = name_of(request)
            if name is not None and not allowed.verdicts(operation, resource_type)[name]:
                authorizer.report(context, need.operation, need.resource_type, (name,))
                reply.fail(need.error, MESSAGES[need.error] if access.has_message else None)
                return None
        if parts is None:
            return kept(handle(context, request, reply))
        asked = Asked(node, context, allowed, authorizer.report)
        if reply.is_large or not parts.allows_all(asked, request):
            work = parts.divide(asked, request, reply)
            if reply.is_large:
                node.steps.run_on(reply, _go_on(work, handle, context, reply))
                return None
            request = at_once(work)
            if request is None:
                return None
        return kept(handle(context, request, reply))

    def kept(repeat: Repeat | None) -> Repeat | None:
        """Return what answers the request once more, as long as no entry changes."""
        if repeat is None:
            return None
        version = authorizer.version
        return repeat.while_true(lambda: authorizer.version == version)

    return run


def _go_on(work: Work[Any], handle: Handle, context: RequestContext, reply: Exchange[Any]) -> Work[None]:
    request = yield from work
    if request is None or (reply.connection.is_closed and reply.row.order in _READ_ONLY):
        return
    handle(context, request, reply)


def _deny_unread(
    access: ApiAccess[Any], unread: Unread[Any], authorizer: Authorizer, context: RequestContext, frame: bytes, position: int
) -> Denial | None:
    """Return how a large request is denied, or None if it is decoded: its needs are met, or its first bytes are no request's."""
    names = unread.names(context.api_version, frame, position)
    if names is None:
        return None
    found = access.unmet(authorizer, context, names)
    if found is None:
        return None
    unmet, name = found
    return Denial(
        partial(unread.refuse, context.api_version, unmet.error),
        partial(authorizer.report, context, unmet.operation, unmet.resource_type, (name,)),
    )
